// A range of layers: hidden states in and out, and draws behind those of others.
#include <array>

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

Async<Result<Drawn>> GpuEngine::draw_behind(SequenceId id, Sampling sampling,
                                            std::vector<Token> tokens) {
  check(options_.layers.end == config_.layers && options_.layers.begin > 0,
        "the engine with the last layers draws behind hidden states");
  WEFT_CO_OK(check_device());
  GpuSequence& sequence = at(id);
  if (sequence.length == 0 || sequence.hidden_at != sequence.length ||
      tokens.size() != sequence.length)
    co_return fail(ErrorCode::unavailable,
                   "A stage has no hidden state behind position {} to draw from.", sequence.length);
  if (drawn_ring_.free_slots() == 0)
    co_return co_await Engine::draw_behind(id, sampling,
                                           std::move(tokens));  // Others' draws are on their way.
  const auto slot = static_cast<std::uint32_t>(id);
  set_sampling(id, sampling);
  WEFT_CO_OK(co_await prepare_draw({id}));
  if (sampling.has_penalties()) {
    const std::size_t count = std::min<std::size_t>(sampling.penalty_window, tokens.size());
    const std::vector<std::uint32_t> last(tokens.end() - static_cast<std::ptrdiff_t>(count),
                                          tokens.end());
    sampler_->remember(slot, sequence.length - static_cast<std::uint32_t>(count), last);
  }
  end_stream();
  // One position early, as in draw_first().
  const RowPlace place{.slot = slot, .position = sequence.length - 1, .run = 0};
  const Segment segment{.slot = slot, .first_row = 0, .rows = 1};
  buffers_.write_rows(device_, std::span(&place, 1), std::span(&segment, 1));
  gpu::Encoder encoder = device_.create_encoder("draw behind");
  count_decode(record_head(encoder, {id}));
  std::uint32_t step = 0;
  {
    gpu::Pass pass = encoder.begin_pass("draw behind");
    const std::array<std::uint32_t, 1> slots{slot};
    step = sampler_->record(pass, *sampled_rows_, slots);
    count_decode(sampler_->dispatches(slots));
    ++counters_.decode_steps;
  }
  WEFT_CO_ASSIGN(gpu::Readback read,
                 drawn_ring_.record(encoder, sampler_->drawn(), sampler_->drawn_offset(step), 8));
  device_.submit(std::move(encoder));
  read.begin();
  ++counters_.submits;
  ++counters_.decode_submits;
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await read.bytes());
  co_return drawn_of(bytes);
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
