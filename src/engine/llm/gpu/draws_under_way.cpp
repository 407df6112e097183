#include "engine/llm/gpu/draws_under_way.h"

#include <cstring>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {

std::vector<DrawsUnderWay::HiddenRow> DrawsUnderWay::rows_to_keep(
    const std::vector<SequenceId>& ids,
    const std::function<std::uint32_t(std::size_t)>& length) const {
  std::vector<HiddenRow> rows;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::uint32_t behind = length(i);
    if (sequences_.at(ids[i]).kept.wants(behind))
      rows.push_back({.row = static_cast<std::uint32_t>(i), .length = behind});
  }
  return rows;
}

void DrawsUnderWay::make_room_for_hidden() {
  if (hidden_ring_ != nullptr) return;
  hidden_ring_ = std::make_unique<gpu::ReadbackRing>(
      setup_.device,
      gpu::ReadbackRing::Options{.slots = under_way_max,
                                 .slot_bytes = setup_.options.sequences * setup_.hidden_bytes()});
}

void DrawsUnderWay::record(gpu::Pass& pass, const std::vector<SequenceId>& ids) {
  const TokenSampling::Draw draw = sampling_.record(pass, ids);
  recorded_.push_back({.step = draw.step});
  passes_.count_decode(draw.dispatches);
  ++passes_.counters().decode_steps;
}

void DrawsUnderWay::record_hidden(gpu::Encoder& encoder, std::vector<HiddenRow> rows) {
  const std::uint64_t row_bytes = setup_.hidden_bytes();
  std::vector<std::uint64_t> offsets;
  for (const HiddenRow& row : rows) offsets.push_back(row.row * row_bytes);
  auto read = hidden_ring_->record_parts(encoder, setup_.buffers.hidden, offsets, row_bytes);
  check(read.has_value(), "there are as many slots as draws under way");
  recorded_.back().rows = std::move(rows);
  recorded_.back().hidden.emplace(std::move(*read));
}

void DrawsUnderWay::submit(gpu::Encoder encoder, const std::vector<SequenceId>& ids) {
  const std::size_t first = under_way_.size();
  for (Recorded& one : recorded_) {
    auto read = drawn_ring_.record(encoder, sampling_.drawn(), sampling_.drawn_offset(one.step),
                                   ids.size() * TokenSampling::drawn_bytes);
    check(read.has_value(), "there are as many slots as draws under way");
    UnderWay draw{
        .read = std::move(*read), .sequences = ids, .epochs = {}, .rows = std::move(one.rows)};
    if (one.hidden) draw.hidden.emplace(std::move(*one.hidden));
    for (const SequenceId id : ids) {
      draw.epochs.push_back(sequences_.at(id).epoch);
      ++sequences_.at(id).under_way;
    }
    under_way_.push_back(std::move(draw));
  }
  recorded_.clear();
  passes_.submit(std::move(encoder));
  for (std::size_t i = first; i < under_way_.size(); ++i) {
    under_way_[i].read.begin();
    if (under_way_[i].hidden) under_way_[i].hidden->begin();
  }
  ++passes_.counters().decode_submits;
}

Async<Result<>> DrawsUnderWay::take_oldest() {
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await under_way_.front().read.bytes());
  const UnderWay& draw = under_way_.front();
  // The sequence of row i; null if it was closed or rewound after the draw.
  const auto counted = [&](std::size_t i) -> GpuSequence* {
    GpuSequence* const sequence = sequences_.find(draw.sequences[i]);
    return sequence != nullptr && sequence->epoch == draw.epochs[i] ? sequence : nullptr;
  };
  if (draw.hidden) {
    WEFT_CO_ASSIGN(const ByteSpan states, co_await under_way_.front().hidden->bytes());
    const std::uint64_t row_bytes = setup_.hidden_bytes();
    for (std::size_t i = 0; i < draw.rows.size(); ++i) {
      GpuSequence* const sequence = counted(draw.rows[i].row);
      if (sequence == nullptr) continue;
      std::vector<float> state(setup_.config.embedding);
      std::memcpy(state.data(), states.data() + i * row_bytes, row_bytes);
      sequence->kept.add(draw.rows[i].length, std::move(state));
    }
  }
  for (std::size_t i = 0; i < draw.sequences.size(); ++i) {
    GpuSequence* const sequence = counted(i);
    if (sequence == nullptr) continue;
    sequence->ahead.push_back(
        TokenSampling::drawn_of(bytes.subspan(i * TokenSampling::drawn_bytes)));
    --sequence->under_way;
  }
  under_way_.pop_front();
  pacer_.taken(under_way_.size(), StepPacer::Clock::now());
  co_return Result<>();
}

void DrawsUnderWay::forget(SequenceId id) {
  for (UnderWay& draw : under_way_) {
    for (std::size_t i = 0; i < draw.sequences.size(); ++i)
      if (draw.sequences[i] == id) draw.epochs[i] = ~std::uint64_t{0};
  }
}

Async<Result<std::vector<Drawn>>> DrawsUnderWay::draw_at_once(gpu::Encoder encoder,
                                                              std::vector<SequenceId> ids) {
  TokenSampling::Draw draw;
  {
    gpu::Pass pass = encoder.begin_pass("draw behind");
    draw = sampling_.record(pass, ids);
    passes_.count_decode(draw.dispatches);
    ++passes_.counters().decode_steps;
  }
  WEFT_CO_ASSIGN(gpu::Readback read,
                 drawn_ring_.record(encoder, sampling_.drawn(), sampling_.drawn_offset(draw.step),
                                    ids.size() * TokenSampling::drawn_bytes));
  passes_.submit(std::move(encoder));
  read.begin();
  ++passes_.counters().decode_submits;
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await read.bytes());
  std::vector<Drawn> out;
  for (std::size_t i = 0; i < ids.size(); ++i)
    out.push_back(TokenSampling::drawn_of(bytes.subspan(i * TokenSampling::drawn_bytes)));
  co_return out;
}

}  // namespace weft::llm
