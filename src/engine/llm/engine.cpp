#include "engine/llm/engine.h"

#include <algorithm>

#include "engine/llm/sampler.h"

namespace weft::llm {

Async<Result<std::vector<float>>> Engine::last_hidden(SequenceId) {
  co_return fail(ErrorCode::unsupported, "The engine on {} gives no hidden states.", device());
}

Async<Result<std::vector<float>>> Engine::logits_along(SequenceId sequence,
                                                       std::vector<Token> tokens) {
  std::vector<float> out;
  for (const Token token : tokens) {
    std::vector<Token> one{token};
    WEFT_CO_OK(co_await append(sequence, std::move(one)));
    WEFT_CO_ASSIGN(const std::vector<float> behind, co_await logits(sequence));
    out.insert(out.end(), behind.begin(), behind.end());
  }
  co_return out;
}

Async<Result<>> Engine::absorb(SequenceId sequence, std::vector<float> hidden) {
  WEFT_CO_ASSIGN([[maybe_unused]] const std::vector<float> unwanted,
                 co_await forward(sequence, std::move(hidden)));
  co_return Result<>();
}

Async<Result<Drawn>> Engine::draw_behind(SequenceId sequence, Sampling sampling,
                                         std::vector<Token> tokens) {
  WEFT_CO_ASSIGN(const std::vector<float> raw, co_await logits(sequence));
  co_return Sampler().draw(sampling, raw, tokens, static_cast<std::uint32_t>(tokens.size()));
}

Async<Result<std::vector<float>>> Engine::forward_each(Rows rows) {
  const std::size_t width = config().embedding;
  std::vector<float> out;
  out.reserve(rows.sequences.size() * width);
  for (std::size_t i = 0; i < rows.sequences.size(); ++i) {
    std::vector<float> row;
    if (rows.tokens.empty()) {
      const auto from = rows.hidden.begin() + static_cast<std::ptrdiff_t>(i * width);
      std::vector<float> state(from, from + static_cast<std::ptrdiff_t>(width));
      WEFT_CO_ASSIGN(row, co_await forward(rows.sequences[i], std::move(state)));
    } else {
      std::vector<Token> token{rows.tokens[i]};
      WEFT_CO_ASSIGN(row, co_await forward_tokens(rows.sequences[i], std::move(token)));
    }
    out.insert(out.end(), row.begin(), row.end());
  }
  co_return out;
}

Async<Result<>> Engine::absorb_each(Rows rows) {
  const std::size_t width = config().embedding;
  for (std::size_t i = 0; i < rows.sequences.size(); ++i) {
    const auto from = rows.hidden.begin() + static_cast<std::ptrdiff_t>(i * width);
    std::vector<float> state(from, from + static_cast<std::ptrdiff_t>(width));
    WEFT_CO_OK(co_await absorb(rows.sequences[i], std::move(state)));
  }
  co_return Result<>();
}

Async<Result<std::vector<Drawn>>> Engine::draw_behind_each(std::vector<DrawBehind> draws) {
  std::vector<Drawn> out;
  out.reserve(draws.size());
  for (DrawBehind& one : draws) {
    WEFT_CO_ASSIGN(const Drawn drawn,
                   co_await draw_behind(one.sequence, one.sampling, std::move(one.tokens)));
    out.push_back(drawn);
  }
  co_return out;
}

Result<EngineOptions> complete(EngineOptions options, const Config& config) {
  if (options.layers.end == 0) options.layers.end = config.layers;
  if (options.layers.begin >= options.layers.end || options.layers.end > config.layers)
    return fail(ErrorCode::invalid_argument,
                "Layers {} to {} are not a range of the model's {} layers.", options.layers.begin,
                options.layers.end, config.layers);
  constexpr std::uint32_t context_default_max = 4096;
  constexpr std::uint32_t context_max = 1u << 20;
  if (options.context == 0) options.context = std::min(config.context, context_default_max);
  if (options.context > context_max)
    return fail(ErrorCode::invalid_argument,
                "A context of {} positions is more than the {} that are possible.", options.context,
                context_max);
  constexpr std::uint32_t sequences_max = 256;
  if (options.sequences == 0 || options.sequences > sequences_max)
    return fail(ErrorCode::invalid_argument,
                "The engine cannot have {} sequences: from 1 to {} are possible.",
                options.sequences, sequences_max);
  return options;
}

}  // namespace weft::llm
