#include "engine/llm/gpu/drawn_rows.h"

#include <algorithm>
#include <utility>

#include "engine/llm/gpu/step_pacer.h"

namespace weft::llm {

void DrawnRows::end() {
  if (std::exchange(is_read_, false)) {
    gpu::Encoder encoder = passes_.encoder("rows end");
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      last_hidden_.keep(encoder, i, ids_[i]);
      GpuSequence& sequence = sequences_.at(ids_[i]);
      sequence.hidden_at = sequence.fed;
    }
    passes_.submit(std::move(encoder));
  }
  ids_.clear();
}

void DrawnRows::settle(SequenceId id) {
  GpuSequence& sequence = sequences_.at(id);
  const bool behind = std::exchange(sequence.behind, false);
  if (!behind && sequence.drawn_ahead() == 0 && sequence.fed <= sequence.length) return;
  end();
  // If the sequence was `behind`, it has read its last token again by now.
  if (behind) sequence.fed = std::max(sequence.fed, sequence.length);
  sequence.forget_ahead();
  if (sequence.fed <= sequence.length) return;
  if (sequences_.recurrent()) {
    sequences_.reset(id);
  } else {
    sequence.read_again_from(sequence.length);
  }
}

// The row's token and place are written between passes. Passes that are already submitted use the
// old token and place, and the tokens that they draw for this sequence are dropped.
bool DrawnRows::draw_again(SequenceId id) {
  GpuSequence& sequence = sequences_.at(id);
  const auto row = std::ranges::find(ids_, id);
  // A token before joined_at was read in a pass of another shape; read again in these rows, its
  // state could be rounded differently.
  if (sequences_.recurrent() || row == ids_.end() || sequence.length <= sequence.joined_at ||
      sequence.fed < sequence.length)
    return false;
  sequence.forget_ahead();
  sequence.read_again_from(sequence.length - 1);
  sequence.behind = true;
  sampling_.remember(id, sequence.sampling, sequence.tokens, sequence.length);
  passes_.write_row(static_cast<std::uint32_t>(row - ids_.begin()),
                    {.id = id, .position = sequence.length - 1}, sequence.tokens.back());
  return true;
}

void DrawnRows::set_sampling(SequenceId id, const Sampling& sampling) {
  settle(id);
  sequences_.at(id).sampling = sampling;
  sampling_.set_sampling(id, sampling);
}

void DrawnRows::set_mask(SequenceId id, std::span<const std::uint64_t> allowed) {
  // Rows that are read and not drawn from can take any mask without a change.
  if (is_read_ ? sequences_.at(id).drawn_ahead() > 0 : !draw_again(id)) settle(id);
  sampling_.set_mask(id, allowed);
}

bool DrawnRows::are_of(const std::vector<SequenceId>& ids) const {
  const auto asked = [&](SequenceId id) { return std::ranges::contains(ids, id); };
  return !ids_.empty() &&
         std::ranges::all_of(ids, [&](SequenceId id) { return std::ranges::contains(ids_, id); }) &&
         std::ranges::all_of(ids_,
                             [&](SequenceId id) { return asked(id) || sequences_.at(id).behind; });
}

RowCount DrawnRows::next() const {
  const auto rows = static_cast<std::uint32_t>(ids_.size());
  RowCount count{.rows = rows, .segments = rows, .positions_least = setup_.options.context};
  for (const SequenceId id : ids_) {
    const std::uint32_t fed = sequences_.at(id).fed;
    count.positions = std::max(count.positions, fed);
    count.positions_least = std::min(count.positions_least, fed);
  }
  ++count.positions;
  ++count.positions_least;
  return count;
}

std::size_t DrawnRows::room() {
  std::uint32_t left = setup_.options.context;
  for (const SequenceId id : ids_) {
    const std::uint32_t fed = sequences_.at(id).fed;
    (void)sequences_.grow(
        id, std::min<std::uint32_t>(setup_.options.context, fed + StepPacer::steps_max));
    const std::uint32_t room = std::min(setup_.options.context - 1, sequences_.room(id));
    left = std::min(left, room - std::min(room, fed));
  }
  return left;
}

bool DrawnRows::can_be_read(const std::vector<SequenceId>& ids, std::uint32_t ahead) {
  return are_of(ids) &&
         std::ranges::all_of(ids_,
                             [&](SequenceId id) {
                               return sequences_.at(id).drawn_ahead() ==
                                      (std::ranges::contains(ids, id) ? ahead : 0);
                             }) &&
         room() > 0;
}

void DrawnRows::fed(std::uint32_t positions) {
  for (const SequenceId id : ids_) {
    GpuSequence& sequence = sequences_.at(id);
    sequence.fed += positions;
    sequence.hidden_at.reset();
  }
}

}  // namespace weft::llm
