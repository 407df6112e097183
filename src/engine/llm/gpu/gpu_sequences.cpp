#include "engine/llm/gpu/gpu_sequences.h"

#include <algorithm>

#include "common/base/counted.h"

namespace weft::llm {

GpuSequences::GpuSequences(const EngineSetup& setup)
    : setup_(setup),
      pages_({.pages = setup.buffers.shape.pages,
              .positions = kv_page_positions,
              .sequences = setup.options.sequences,
              .pages_each = setup.buffers.shape.table_pages}),
      sequences_(setup.options.sequences) {}

Result<SequenceId> GpuSequences::open() {
  const auto free =
      std::ranges::find_if(sequences_, [](const auto& slot) { return !slot.has_value(); });
  if (free == sequences_.end())
    return fail(ErrorCode::resource_exhausted,
                "All {} sequences are in use (EngineOptions::sequences).", sequences_.size());
  free->emplace();
  const auto id = static_cast<SequenceId>(free - sequences_.begin());
  reset(id);
  return id;
}

void GpuSequences::close(SequenceId id) {
  sequences_[index(id)].reset();
  pages_.shrink(static_cast<std::uint32_t>(id), 0);
}

Result<> GpuSequences::fits(const GpuSequence& sequence, std::size_t more) const {
  if (sequence.length + more > setup_.options.context)
    return fail(
        ErrorCode::resource_exhausted, "{} after {} {} not fit into the context of {} (--context).",
        counted(more, "token"), sequence.length, more == 1 ? "does" : "do", setup_.options.context);
  return {};
}

bool GpuSequences::grow(SequenceId id, std::uint32_t positions) {
  const auto slot = static_cast<std::uint32_t>(id);
  if (positions <= pages_.room(slot)) return true;
  if (!pages_.grow(slot, positions)) return false;
  setup_.buffers.write_table(setup_.device, slot, pages_.of(slot));
  return true;
}

Result<> GpuSequences::grow_or_fail(SequenceId id, std::uint32_t positions) {
  if (grow(id, positions)) return {};
  return fail(ErrorCode::resource_exhausted,
              "The cache has {} of {} pages left, too few for {} of one sequence: end another one, "
              "or raise EngineOptions::cache_bytes.",
              pages_.free_pages(), pages_.options().pages, counted(positions, "position"));
}

Result<> GpuSequences::reserve(SequenceId id, std::uint32_t positions) {
  const GpuSequence& sequence = at(id);
  const std::uint32_t wanted = std::max(std::min(positions, setup_.options.context),
                                        std::max(sequence.length, sequence.fed));
  WEFT_OK(grow_or_fail(id, wanted));
  pages_.shrink(static_cast<std::uint32_t>(id), wanted);
  return {};
}

std::uint32_t GpuSequences::share(SequenceId from, SequenceId to, std::uint32_t length) {
  GpuSequence& taker = at(to);
  const GpuSequence& giver = at(from);
  if (recurrent() || from == to || taker.length > 0 || giver.tokens.size() != giver.length)
    return 0;
  const auto slot = static_cast<std::uint32_t>(to);
  pages_.shrink(slot, 0);
  const std::uint32_t shared = pages_.share(static_cast<std::uint32_t>(from), slot,
                                            std::min({length, giver.length, giver.fed}));
  setup_.buffers.write_table(setup_.device, slot, pages_.of(slot));
  taker.tokens.assign(giver.tokens.begin(),
                      giver.tokens.begin() + static_cast<std::ptrdiff_t>(shared));
  taker.length = taker.fed = shared;
  taker.hidden_at.reset();
  return shared;
}

std::uint32_t GpuSequences::rewind(SequenceId id, std::uint32_t wanted) {
  GpuSequence& sequence = at(id);
  if (!recurrent()) wanted = pages_.rewind(static_cast<std::uint32_t>(id), wanted);
  if (wanted < sequence.fed) {
    if (recurrent() || wanted == 0) {
      reset(id);
      sequence.tokens.clear();
      sequence.length = 0;
      return 0;
    }
    sequence.read_again_from(wanted);
  }
  sequence.length = wanted;
  if (!sequence.tokens.empty()) sequence.tokens.resize(wanted);
  return wanted;
}

void GpuSequences::reset(SequenceId id) {
  GpuSequence& sequence = at(id);
  sequence.forget_ahead();
  sequence.kept.clear();
  sequence.read_again_from(0);
  if (memory_.empty()) return;
  gpu::Encoder encoder = setup_.device.create_encoder("reset");
  for (const RecurrentMemory& memory : memory_)
    encoder.clear(*memory.buffer, static_cast<std::uint64_t>(id) * memory.slot_bytes,
                  memory.slot_bytes);
  setup_.device.submit(std::move(encoder));
}

}  // namespace weft::llm
