#include "engine/llm/gpu/row_passes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft::llm {

using kernels::RowPlace;
using kernels::Segment;

Async<Result<>> RowPasses::load(const Model& model, const gguf::Source& source,
                                std::function<void(std::uint64_t bytes)> on_bytes) {
  WEFT_CO_ASSIGN(program_, co_await ModelProgram::create(
                               setup_.device, model, source, setup_.options, setup_.buffers,
                               {.maker = maker_, .later = compiles_later_}, std::move(on_bytes)));
  co_return Result<>();
}

Result<> RowPasses::check_device() const {
  if (const auto reason = setup_.device.lost())
    return fail(ErrorCode::device_lost, "The GPU was lost: {}", *reason);
  return {};
}

Async<Result<>> RowPasses::prepare(RowCount rows, ModelProgram::Parts parts,
                                   std::uint32_t further) {
  return program_->prepare(maker_, rows, parts, further);
}

Async<Result<>> RowPasses::prepare_run(std::uint32_t from, std::uint32_t to, bool embed) {
  while (!program_->is_whole() && from < to) {
    const std::uint32_t count = std::min(setup_.buffers.shape.rows, to - from);
    from += count;
    WEFT_CO_OK(
        co_await program_->prepare(maker_, run_of(count, from), {.embed = embed, .layers = true}));
  }
  co_return Result<>();
}

Async<Result<>> RowPasses::prepare_head(std::size_t rows) {
  const auto count = static_cast<std::uint32_t>(rows);
  return program_->prepare(maker_, {.rows = count, .segments = count}, {.head = true});
}

void RowPasses::place_run(SequenceId id, std::uint32_t first, std::uint32_t count) {
  const auto slot = static_cast<std::uint32_t>(id);
  std::vector<RowPlace> places(count);
  for (std::uint32_t i = 0; i < count; ++i)
    places[i] = {.slot = slot, .position = first + i, .run = i};
  const Segment segment{.slot = slot, .first_row = 0, .rows = count};
  setup_.buffers.write_rows(setup_.device, places, std::span(&segment, 1));
}

void RowPasses::place_each(std::span<const Row> rows) {
  std::vector<RowPlace> places;
  std::vector<Segment> segments;
  for (const Row& row : rows) {
    const auto slot = static_cast<std::uint32_t>(row.id);
    segments.push_back(
        {.slot = slot, .first_row = static_cast<std::uint32_t>(places.size()), .rows = 1});
    places.push_back({.slot = slot, .position = row.position, .run = 0});
  }
  setup_.buffers.write_rows(setup_.device, places, segments);
}

void RowPasses::write_row(std::uint32_t row, Row place, Token token) {
  setup_.buffers.write_row(
      setup_.device, row,
      {.slot = static_cast<std::uint32_t>(place.id), .position = place.position, .run = 0}, token);
}

bool RowPasses::record_layers(gpu::Encoder& encoder, const RowCount& rows, bool embed,
                              std::size_t& next, std::uint32_t most) {
  gpu::Pass pass = encoder.begin_pass("layers");
  if (embed && next == 0) counters_.dispatches += program_->embed().record(pass, rows);
  counters_.dispatches += program_->layers(rows).record_piece(pass, rows, next, most);
  return next == program_->layers(rows).size();
}

gpu::Encoder RowPasses::begin_layers(const RowCount& rows, bool embed, const char* label) {
  // The first piece of a pass with few rows is small, so that the device begins early: recording
  // and submitting a dispatch of few rows takes a third of the time that the dispatch runs.
  constexpr std::uint32_t first_piece = 12, piece = 48, few_rows = 16;
  const bool in_pieces = rows.rows <= few_rows;
  std::size_t next = 0;
  for (std::uint32_t most = first_piece;; most = piece) {
    gpu::Encoder encoder = setup_.device.create_encoder(label);
    if (record_layers(encoder, rows, embed, next,
                      in_pieces ? most : std::numeric_limits<std::uint32_t>::max()))
      return encoder;
    submit(std::move(encoder));
  }
}

std::uint32_t RowPasses::record_whole(gpu::Pass& pass, const RowCount& rows) const {
  return program_->embed().record(pass, rows) + program_->layers(rows).record(pass, rows) +
         program_->head(rows).record(pass, rows);
}

}  // namespace weft::llm
