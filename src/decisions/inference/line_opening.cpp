#include "decisions/inference/line_opening.h"

#include <algorithm>

#include "common/proof/frame_block.h"

namespace weft::inference {

namespace wire = protocol::serving;

bool LineOpening::ask() {
  const auto stages = static_cast<std::uint32_t>(pipeline_.stages.size());
  if (step_ == Step::waits) {
    step_ = Step::first;
    ask_ends(0, {});
    ask_ends(stages - 1, {});  // No tokens: asks for all final states, which are few.
    return true;
  }
  step_ = Step::others;
  std::set<std::uint32_t> all;
  for (const AnswerPlaces::Row& row : places_.rows) all.insert(row.number);
  for (const auto& [ticket, asked] : places_.asked) all.insert(asked.number);
  if (all.empty() || all.size() > wire::reopened_max) return false;
  const std::vector<std::uint32_t> numbers(all.begin(), all.end());
  for (std::uint32_t line = 1; line + 1 < stages; ++line) ask_ends(line, numbers);
  return true;
}

void LineOpening::ask_ends(std::uint32_t line, const std::vector<std::uint32_t>& numbers) {
  const auto stages = static_cast<std::uint32_t>(pipeline_.stages.size());
  for (const std::uint32_t end : {line, (line + 1) % stages}) {
    const auto holders = tables_.workers.sessions_of(pipeline_.stages[end].worker);
    if (holders.empty()) continue;
    awaited_.emplace(holders.front(), line);
    wire::Reopen order{.chain = pipeline_.chain, .epoch = pipeline_.epoch, .line = line};
    order.by_sequence = step_ == Step::first && line == 0;
    order.sequence = order.by_sequence ? pipeline_.sequence : 0;
    if (step_ == Step::others) order.numbers = numbers;
    tables_.world.send(holders.front(), order);
  }
}

void LineOpening::close_step(std::span<const std::int32_t> tokens) {
  awaited_.clear();
  joiners_.clear();
  if (step_ == Step::first) {
    places_ = find_answer(read_frames(frames_[0]), tokens);
    return;
  }
  step_ = Step::done;
  for (std::uint32_t line = 0; line < pipeline_.stages.size(); ++line)
    lines_.push_back(read_frames(frames_[line]));
  frames_.clear();
}

bool LineOpening::take(ServingId session, const wire::HopFrame& hop) {
  if (pipeline_.chain != hop.chain || pipeline_.epoch != hop.epoch ||
      !awaited_.contains({session, hop.from}))
    return false;
  const auto message = joiners_[session].take(hop);
  if (!message || !*message) return true;
  auto opening = proof::decode_frame_opening(**message);
  if (!opening || opening->line != hop.from ||
      bytes_ + opening->frame.size() > tables_.settings.trace_bytes_max)
    return true;
  // A frame counts only if both ends committed to it: the commitment of one end is no evidence
  // against the other.
  const proof::FrameBlock* const block =
      tables_.roots.agreed(hop.chain, hop.epoch, hop.from, opening->first);
  if (block == nullptr || block->count != opening->count || !proof::opens(*opening, block->root))
    return true;
  ByteVector& frame = frames_[opening->line][opening->number];
  if (!frame.empty()) return true;
  bytes_ += opening->frame.size();
  frame = std::move(opening->frame);
  return true;
}

bool LineOpening::reopened(ServingId session, const wire::Reopened& message) {
  return pipeline_.chain == message.chain && pipeline_.epoch == message.epoch &&
         awaited_.erase({session, message.line}) > 0;
}

bool LineOpening::left(ServingId session) {
  return std::erase_if(awaited_, [&](const auto& one) { return one.first == session; }) > 0;
}

}  // namespace weft::inference
