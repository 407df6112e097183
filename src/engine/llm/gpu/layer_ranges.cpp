#include "engine/llm/gpu/layer_ranges.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "engine/llm/sampler.h"

namespace weft::llm {

Async<Result<>> LayerRanges::prepare_hidden(SequenceId id, const std::vector<float>& hidden) {
  WEFT_CO_OK(passes_.check_device());
  const std::uint32_t width = setup_.config.embedding;
  if (hidden.empty() || hidden.size() % width != 0)
    co_return fail(ErrorCode::invalid_argument,
                   "{} numbers cannot be divided into hidden states of {} numbers.", hidden.size(),
                   width);
  const GpuSequence& sequence = sequences_.at(id);
  WEFT_CO_OK(sequences_.fits(sequence, hidden.size() / width));
  const auto fed = sequence.fed + static_cast<std::uint32_t>(hidden.size() / width);
  WEFT_CO_OK(sequences_.grow_or_fail(id, fed));
  co_return co_await passes_.prepare_run(sequence.fed, fed, false);
}

void LayerRanges::pass_hidden(SequenceId id, std::span<const float> states,
                              const std::function<void(gpu::Encoder&)>& record) {
  GpuSequence& sequence = sequences_.at(id);
  const auto count = static_cast<std::uint32_t>(states.size() / setup_.config.embedding);
  drawn_rows_.end();
  passes_.place_run(id, sequence.fed, count);
  passes_.write_hidden(states);
  gpu::Encoder encoder =
      passes_.begin_layers(RowPasses::run_of(count, sequence.fed + count), false, "forward");
  last_hidden_.keep(encoder, count - 1, id);
  if (record) record(encoder);
  passes_.submit(std::move(encoder));
  sequence.fed += count;
  sequence.length = sequence.fed;
  sequence.hidden_at = sequence.fed;
}

Async<Result<std::vector<float>>> LayerRanges::forward(SequenceId id, std::vector<float> hidden) {
  WEFT_CO_OK(co_await prepare_hidden(id, hidden));
  const std::size_t most = std::size_t{setup_.buffers.shape.rows} * setup_.config.embedding;
  for (std::size_t done = 0; done < hidden.size();) {
    const std::span<float> states =
        std::span(hidden).subspan(done, std::min(most, hidden.size() - done));
    FloatReadback::Copy back;
    pass_hidden(id, states, [&](gpu::Encoder& encoder) {
      back = floats_.record(encoder, setup_.buffers.hidden, states.size());
    });
    WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats_.read(std::move(back)));
    std::ranges::copy(out, states.begin());
    done += states.size();
  }
  co_return hidden;
}

Async<Result<>> LayerRanges::absorb(SequenceId id, std::vector<float> hidden) {
  WEFT_CO_OK(co_await prepare_hidden(id, hidden));
  const std::size_t most = std::size_t{setup_.buffers.shape.rows} * setup_.config.embedding;
  for (std::size_t done = 0; done < hidden.size(); done += most)
    pass_hidden(
        id, std::span<const float>(hidden).subspan(done, std::min(most, hidden.size() - done)), {});
  co_return Result<>();
}

Async<Result<std::vector<float>>> LayerRanges::forward_tokens(SequenceId id,
                                                              std::vector<Token> tokens) {
  GpuSequence& sequence = sequences_.at(id);
  if (tokens.empty()) co_return std::vector<float>();
  WEFT_CO_OK(passes_.check_device());
  WEFT_CO_OK(sequences_.fits(sequence, tokens.size()));
  WEFT_CO_OK(prompts_.check_tokens(tokens));
  WEFT_CO_OK(
      sequences_.grow_or_fail(id, sequence.length + static_cast<std::uint32_t>(tokens.size())));
  const std::uint32_t width = setup_.config.embedding;
  std::vector<float> hidden;
  hidden.reserve(tokens.size() * width);
  for (std::size_t done = 0; done < tokens.size();) {
    const auto count = static_cast<std::uint32_t>(
        std::min<std::size_t>(setup_.buffers.shape.rows, tokens.size() - done));
    WEFT_CO_OK(co_await passes_.prepare_run(sequence.fed, sequence.length + count, true));
    sequence.tokens.insert(sequence.tokens.end(),
                           tokens.begin() + static_cast<std::ptrdiff_t>(done),
                           tokens.begin() + static_cast<std::ptrdiff_t>(done + count));
    sequence.length += count;
    FloatReadback::Copy back;
    prompts_.feed(id, [&](gpu::Encoder& encoder, std::uint32_t rows) {
      back = floats_.record(encoder, setup_.buffers.hidden, std::uint64_t{rows} * width);
    });
    WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats_.read(std::move(back)));
    hidden.insert(hidden.end(), out.begin(), out.end());
    done += count;
  }
  co_return hidden;
}

Result<RowCount> LayerRanges::check_rows(const Rows& rows) const {
  const bool embed = setup_.options.layers.begin == 0;
  const auto count = static_cast<std::uint32_t>(rows.sequences.size());
  check(count > 0 && count <= setup_.buffers.shape.rows,
        "a pass has a row of each sequence at most");
  if (embed ? rows.tokens.size() != count
            : rows.hidden.size() != std::size_t{count} * setup_.config.embedding)
    return fail(ErrorCode::invalid_argument,
                "{} rows need a token or a hidden state each; {} tokens and {} numbers are given.",
                count, rows.tokens.size(), rows.hidden.size());
  if (embed) WEFT_OK(prompts_.check_tokens(rows.tokens));
  RowCount shape{.rows = count, .segments = count, .positions_least = setup_.options.context};
  for (const SequenceId id : rows.sequences) {
    const GpuSequence& sequence = sequences_.at(id);
    WEFT_OK(sequences_.fits(sequence, 1));
    if (sequence.fed != sequence.length)
      return fail(ErrorCode::internal, "A row follows positions that the engine has not read yet.");
    shape.positions = std::max(shape.positions, sequence.fed + 1);
    shape.positions_least = std::min(shape.positions_least, sequence.fed + 1);
  }
  return shape;
}

Async<Result<>> LayerRanges::pass_each(Rows rows, std::function<void(gpu::Encoder&)> record) {
  WEFT_CO_OK(passes_.check_device());
  WEFT_CO_ASSIGN(const RowCount shape, check_rows(rows));
  const bool embed = setup_.options.layers.begin == 0;
  for (const SequenceId id : rows.sequences)
    WEFT_CO_OK(sequences_.grow_or_fail(id, sequences_.at(id).fed + 1));
  WEFT_CO_OK(co_await passes_.prepare(shape, {.embed = embed, .layers = true}));
  drawn_rows_.end();
  std::vector<RowPasses::Row> places;
  for (const SequenceId id : rows.sequences)
    places.push_back({.id = id, .position = sequences_.at(id).fed});
  passes_.place_each(places);
  if (embed) {
    passes_.write_tokens(rows.tokens);
  } else {
    passes_.write_hidden(rows.hidden);
  }
  gpu::Encoder encoder = passes_.begin_layers(shape, embed, "forward each");
  for (std::size_t row = 0; row < rows.sequences.size(); ++row)
    last_hidden_.keep(encoder, row, rows.sequences[row]);
  if (record) record(encoder);
  passes_.submit(std::move(encoder));
  for (std::size_t row = 0; row < rows.sequences.size(); ++row) {
    GpuSequence& sequence = sequences_.at(rows.sequences[row]);
    if (embed) sequence.tokens.push_back(rows.tokens[row]);
    sequence.length = ++sequence.fed;
    sequence.hidden_at = sequence.fed;
  }
  co_return Result<>();
}

Async<Result<std::vector<float>>> LayerRanges::forward_each(Rows rows) {
  const std::uint64_t numbers = rows.sequences.size() * std::uint64_t{setup_.config.embedding};
  std::optional<FloatReadback::Copy> back;
  WEFT_CO_OK(co_await pass_each(std::move(rows), [&](gpu::Encoder& encoder) {
    back.emplace(floats_.record(encoder, setup_.buffers.hidden, numbers));
  }));
  co_return co_await floats_.read(std::move(*back));
}

Async<Result<>> LayerRanges::absorb_each(Rows rows) { return pass_each(std::move(rows), {}); }

Async<Result<std::vector<Drawn>>> LayerRanges::draw_from_logits(std::vector<DrawBehind> draws) {
  std::vector<Drawn> out;
  for (const DrawBehind& one : draws) {
    WEFT_CO_ASSIGN(const std::vector<float> logits, co_await outputs_.logits(one.sequence));
    out.push_back(Sampler().draw(one.sampling, logits, one.tokens,
                                 static_cast<std::uint32_t>(one.tokens.size())));
  }
  co_return out;
}

Async<Result<std::vector<Drawn>>> LayerRanges::draw_behind_each(std::vector<DrawBehind> draws) {
  check(setup_.options.layers.end == setup_.config.layers && setup_.options.layers.begin > 0,
        "the engine with the last layers draws behind hidden states");
  WEFT_CO_OK(passes_.check_device());
  std::vector<SequenceId> ids;
  for (const DrawBehind& one : draws) {
    const GpuSequence& sequence = sequences_.at(one.sequence);
    if (sequence.length == 0 || sequence.hidden_at != sequence.length ||
        one.tokens.size() != sequence.length)
      co_return fail(ErrorCode::unavailable,
                     "A stage has no hidden state after position {} to draw from.",
                     sequence.length);
    ids.push_back(one.sequence);
  }
  // If other draws use all readback slots, these tokens are sampled on the CPU.
  if (!draws_.can_draw_at_once()) co_return co_await draw_from_logits(std::move(draws));
  for (const DrawBehind& one : draws) drawn_rows_.set_sampling(one.sequence, one.sampling);
  WEFT_CO_OK(co_await token_draws_.prepare_draw(ids));
  drawn_rows_.end();
  std::vector<RowPasses::Row> rows;
  for (const DrawBehind& one : draws) {
    const std::uint32_t length = sequences_.at(one.sequence).length;
    sampling_.remember(one.sequence, one.sampling, one.tokens, length);
    // The position is one too small, because the sampler advances it after the draw.
    rows.push_back({.id = one.sequence, .position = length - 1});
  }
  passes_.place_each(rows);
  gpu::Encoder encoder = passes_.encoder("draw behind");
  passes_.count_decode(outputs_.record_head(encoder, ids));
  co_return co_await draws_.draw_at_once(std::move(encoder), std::move(ids));
}

}  // namespace weft::llm
