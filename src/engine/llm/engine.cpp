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

Result<EngineOptions> complete(EngineOptions options, const Config& config) {
  if (options.layers.end == 0) options.layers.end = config.layers;
  if (options.layers.begin >= options.layers.end || options.layers.end > config.layers)
    return fail(ErrorCode::invalid_argument, "Layers {} to {} are not a range of the model's {}.",
                options.layers.begin, options.layers.end, config.layers);
  constexpr std::uint32_t context_default_max = 4096;
  constexpr std::uint32_t context_max = 1u << 20;
  if (options.context == 0) options.context = std::min(config.context, context_default_max);
  if (options.context > context_max)
    return fail(ErrorCode::invalid_argument,
                "A context of {} positions is more than the {} that are possible.", options.context,
                context_max);
  constexpr std::uint32_t sequences_max = 256;
  if (options.sequences == 0 || options.sequences > sequences_max)
    return fail(ErrorCode::invalid_argument, "{} sequences; from 1 to {} are possible.",
                options.sequences, sequences_max);
  return options;
}

}  // namespace weft::llm
