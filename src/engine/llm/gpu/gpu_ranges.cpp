// A range of layers: hidden states in and out, and draws behind those of others.
#include <algorithm>
#include <optional>

#include "engine/llm/gpu/gpu_engine_state.h"

namespace weft::llm {

using kernels::RowPlace;
using kernels::Segment;

Result<> GpuEngine::takes_hidden(const GpuSequence& sequence,
                                 const std::vector<float>& hidden) const {
  WEFT_OK(check_device());
  const std::uint32_t width = config_.embedding;
  if (hidden.empty() || hidden.size() % width != 0)
    return fail(ErrorCode::invalid_argument, "{} numbers are no hidden states of {} each.",
                hidden.size(), width);
  return fits(sequence, hidden.size() / width);
}

void GpuEngine::pass_hidden(SequenceId id, std::span<const float> states,
                            const std::function<void(gpu::Encoder&)>& record) {
  GpuSequence& sequence = at(id);
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  const auto count = static_cast<std::uint32_t>(states.size() / config_.embedding);
  place_rows(id, sequence.fed, count);
  device_.write(buffers_.hidden, 0, as_bytes(states));
  gpu::Encoder encoder = begin_layers({.rows = count,
                                       .segments = 1,
                                       .positions = sequence.fed + count,
                                       .positions_least = sequence.fed + count},
                                      false, "forward");
  encoder.copy(buffers_.hidden, (count - 1) * row_bytes, last_hidden_,
               static_cast<std::uint64_t>(id) * row_bytes, row_bytes);
  if (record) record(encoder);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  sequence.fed += count;
  sequence.length = sequence.fed;
  sequence.hidden_at = sequence.fed;
}

Async<Result<std::vector<float>>> GpuEngine::forward(SequenceId id, std::vector<float> hidden) {
  WEFT_CO_OK(takes_hidden(at(id), hidden));
  WEFT_CO_OK(
      grow_or_fail(id, at(id).fed + static_cast<std::uint32_t>(hidden.size() / config_.embedding)));
  WEFT_CO_OK(co_await prepare_rows(
      at(id).fed, at(id).fed + static_cast<std::uint32_t>(hidden.size() / config_.embedding),
      false));
  const std::size_t rows_max = std::size_t{buffers_.shape.rows} * config_.embedding;
  for (std::size_t done = 0; done < hidden.size();) {
    const std::span<float> states =
        std::span(hidden).subspan(done, std::min(rows_max, hidden.size() - done));
    FloatReadback::Copy back;
    pass_hidden(id, states, [&](gpu::Encoder& encoder) {
      back = floats_.record(encoder, buffers_.hidden, states.size());
    });
    WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats_.read(std::move(back)));
    std::ranges::copy(out, states.begin());
    done += states.size();
  }
  co_return hidden;
}

Async<Result<>> GpuEngine::absorb(SequenceId id, std::vector<float> hidden) {
  WEFT_CO_OK(takes_hidden(at(id), hidden));
  WEFT_CO_OK(
      grow_or_fail(id, at(id).fed + static_cast<std::uint32_t>(hidden.size() / config_.embedding)));
  WEFT_CO_OK(co_await prepare_rows(
      at(id).fed, at(id).fed + static_cast<std::uint32_t>(hidden.size() / config_.embedding),
      false));
  const std::size_t rows_max = std::size_t{buffers_.shape.rows} * config_.embedding;
  for (std::size_t done = 0; done < hidden.size(); done += rows_max)
    pass_hidden(
        id, std::span<const float>(hidden).subspan(done, std::min(rows_max, hidden.size() - done)),
        {});
  co_return Result<>();
}

Async<Result<>> GpuEngine::pass_each(Rows rows, std::function<void(gpu::Encoder&)> record) {
  WEFT_CO_OK(check_device());
  const bool embed = options_.layers.begin == 0;
  const std::size_t width = config_.embedding;
  const auto count = static_cast<std::uint32_t>(rows.sequences.size());
  check(count > 0 && count <= buffers_.shape.rows, "a pass has a row of each sequence at most");
  if (embed ? rows.tokens.size() != count : rows.hidden.size() != count * width)
    co_return fail(ErrorCode::invalid_argument, "{} rows come with {} tokens and {} numbers.",
                   count, rows.tokens.size(), rows.hidden.size());
  if (embed) WEFT_CO_OK(check_tokens(rows.tokens));
  RowCount shape{.rows = count, .segments = count, .positions_least = options_.context};
  for (const SequenceId id : rows.sequences) {
    const GpuSequence& sequence = at(id);
    WEFT_CO_OK(fits(sequence, 1));
    if (sequence.fed != sequence.length)
      co_return fail(ErrorCode::internal, "A row is to follow on positions that were not read.");
    shape.positions = std::max(shape.positions, sequence.fed + 1);
    shape.positions_least = std::min(shape.positions_least, sequence.fed + 1);
  }
  for (const SequenceId id : rows.sequences) WEFT_CO_OK(grow_or_fail(id, at(id).fed + 1));
  WEFT_CO_OK(co_await program_->prepare(maker_, shape, {.embed = embed, .layers = true}));
  end_stream();
  std::vector<RowPlace> places;
  std::vector<Segment> segments;
  for (std::uint32_t row = 0; row < count; ++row) {
    const SequenceId id = rows.sequences[row];
    const auto slot = static_cast<std::uint32_t>(id);
    places.push_back({.slot = slot, .position = at(id).fed, .run = 0});
    segments.push_back({.slot = slot, .first_row = row, .rows = 1});
  }
  buffers_.write_rows(device_, places, segments);
  if (embed) {
    buffers_.write_tokens(device_, rows.tokens);
  } else {
    device_.write(buffers_.hidden, 0, as_bytes(std::span<const float>(rows.hidden)));
  }
  gpu::Encoder encoder = begin_layers(shape, embed, "forward each");
  const std::uint64_t row_bytes = std::uint64_t{width} * 4;
  for (std::uint32_t row = 0; row < count; ++row)
    encoder.copy(buffers_.hidden, row * row_bytes, last_hidden_,
                 static_cast<std::uint64_t>(rows.sequences[row]) * row_bytes, row_bytes);
  if (record) record(encoder);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  for (std::uint32_t row = 0; row < count; ++row) {
    GpuSequence& sequence = at(rows.sequences[row]);
    if (embed) sequence.tokens.push_back(rows.tokens[row]);
    sequence.length = ++sequence.fed;
    sequence.hidden_at = sequence.fed;
  }
  co_return Result<>();
}

Async<Result<std::vector<float>>> GpuEngine::forward_each(Rows rows) {
  const std::uint64_t numbers = rows.sequences.size() * std::uint64_t{config_.embedding};
  std::optional<FloatReadback::Copy> back;
  WEFT_CO_OK(co_await pass_each(std::move(rows), [&](gpu::Encoder& encoder) {
    back.emplace(floats_.record(encoder, buffers_.hidden, numbers));
  }));
  co_return co_await floats_.read(std::move(*back));
}

Async<Result<>> GpuEngine::absorb_each(Rows rows) { return pass_each(std::move(rows), {}); }

Async<Result<Drawn>> GpuEngine::draw_behind(SequenceId id, Sampling sampling,
                                            std::vector<Token> tokens) {
  std::vector<DrawBehind> one;
  one.push_back({.sequence = id, .sampling = sampling, .tokens = std::move(tokens)});
  WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await draw_behind_each(std::move(one)));
  co_return drawn.front();
}

Async<Result<std::vector<Drawn>>> GpuEngine::draw_behind_each(std::vector<DrawBehind> draws) {
  check(options_.layers.end == config_.layers && options_.layers.begin > 0,
        "the engine with the last layers draws behind hidden states");
  WEFT_CO_OK(check_device());
  std::vector<SequenceId> ids;
  for (const DrawBehind& one : draws) {
    const GpuSequence& sequence = at(one.sequence);
    if (sequence.length == 0 || sequence.hidden_at != sequence.length ||
        one.tokens.size() != sequence.length)
      co_return fail(ErrorCode::unavailable,
                     "A stage has no hidden state behind position {} to draw from.",
                     sequence.length);
    ids.push_back(one.sequence);
  }
  if (drawn_ring_.free_slots() == 0) {  // Others' draws are on their way.
    std::vector<Drawn> out;
    for (DrawBehind& one : draws) {
      WEFT_CO_ASSIGN(const Drawn drawn, co_await Engine::draw_behind(one.sequence, one.sampling,
                                                                     std::move(one.tokens)));
      out.push_back(drawn);
    }
    co_return out;
  }
  for (const DrawBehind& one : draws) set_sampling(one.sequence, one.sampling);
  WEFT_CO_OK(co_await prepare_draw(ids));
  end_stream();
  std::vector<RowPlace> places;
  std::vector<Segment> segments;
  std::vector<std::uint32_t> slots;
  for (std::uint32_t row = 0; row < ids.size(); ++row) {
    const DrawBehind& one = draws[row];
    const auto slot = static_cast<std::uint32_t>(one.sequence);
    const std::uint32_t length = at(one.sequence).length;
    if (one.sampling.has_penalties()) {
      const std::size_t count =
          std::min<std::size_t>(one.sampling.penalty_window, one.tokens.size());
      const std::vector<std::uint32_t> last(one.tokens.end() - static_cast<std::ptrdiff_t>(count),
                                            one.tokens.end());
      sampler_->remember(slot, length - static_cast<std::uint32_t>(count), last);
    }
    // One position early, as in draw_first().
    places.push_back({.slot = slot, .position = length - 1, .run = 0});
    segments.push_back({.slot = slot, .first_row = row, .rows = 1});
    slots.push_back(slot);
  }
  buffers_.write_rows(device_, places, segments);
  gpu::Encoder encoder = device_.create_encoder("draw behind");
  count_decode(record_head(encoder, ids));
  std::uint32_t step = 0;
  {
    gpu::Pass pass = encoder.begin_pass("draw behind");
    step = sampler_->record(pass, *sampled_rows_, slots);
    count_decode(sampler_->dispatches(slots));
    ++counters_.decode_steps;
  }
  WEFT_CO_ASSIGN(gpu::Readback read,
                 drawn_ring_.record(encoder, sampler_->drawn(), sampler_->drawn_offset(step),
                                    std::uint64_t{ids.size()} * 8));
  device_.submit(std::move(encoder));
  read.begin();
  ++counters_.submits;
  ++counters_.decode_submits;
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await read.bytes());
  std::vector<Drawn> out;
  for (std::size_t i = 0; i < ids.size(); ++i) out.push_back(drawn_of(bytes.subspan(i * 8)));
  co_return out;
}

Async<Result<std::vector<float>>> GpuEngine::forward_tokens(SequenceId id,
                                                            std::vector<Token> tokens) {
  GpuSequence& sequence = at(id);
  if (tokens.empty()) co_return std::vector<float>();
  WEFT_CO_OK(check_device());
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_OK(check_tokens(tokens));
  WEFT_CO_OK(grow_or_fail(id, sequence.length + static_cast<std::uint32_t>(tokens.size())));
  const std::uint32_t width = config_.embedding;
  std::vector<float> hidden;
  hidden.reserve(tokens.size() * width);
  for (std::size_t done = 0; done < tokens.size();) {
    const auto count = static_cast<std::uint32_t>(
        std::min<std::size_t>(buffers_.shape.rows, tokens.size() - done));
    WEFT_CO_OK(co_await prepare_rows(sequence.fed, sequence.length + count, true));
    sequence.tokens.insert(sequence.tokens.end(),
                           tokens.begin() + static_cast<std::ptrdiff_t>(done),
                           tokens.begin() + static_cast<std::ptrdiff_t>(done + count));
    sequence.length += count;
    FloatReadback::Copy back;
    feed(id, [&](gpu::Encoder& encoder, std::uint32_t rows) {
      back = floats_.record(encoder, buffers_.hidden, std::uint64_t{rows} * width);
    });
    WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats_.read(std::move(back)));
    hidden.insert(hidden.end(), out.begin(), out.end());
    done += count;
  }
  co_return hidden;
}

}  // namespace weft::llm
