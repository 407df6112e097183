#include "decisions/inference/frame_roots.h"

#include <algorithm>
#include <utility>

namespace weft::inference {

void FrameRoots::begin(std::uint32_t chain, std::uint32_t epoch, std::uint32_t members) {
  if (find(chain, epoch) != nullptr) return;
  if (epochs_.size() >= epochs_max) epochs_.pop_front();
  epochs_.push_back({.chain = chain, .epoch = epoch, .lines = std::vector<Line>(members)});
}

const FrameRoots::Epoch* FrameRoots::find(std::uint32_t chain, std::uint32_t epoch) const {
  const auto found = std::ranges::find_if(
      epochs_, [&](const Epoch& one) { return one.chain == chain && one.epoch == epoch; });
  return found == epochs_.end() ? nullptr : &*found;
}

FrameRoots::Told FrameRoots::add(const proof::FrameBlock& block, std::uint32_t member,
                                 Instant now) {
  auto* const epoch = const_cast<Epoch*>(std::as_const(*this).find(block.chain, block.epoch));
  if (epoch == nullptr || block.line >= epoch->lines.size() || block.count == 0 ||
      block.count > proof::frame_block_max)
    return Told::unwanted;
  const bool sends = member == block.line;
  if (!sends && member != (block.line + 1) % epoch->lines.size()) return Told::unwanted;
  Line& line = epoch->lines[block.line];
  std::uint32_t& next = sends ? line.sent : line.received;
  if (block.first != next) return Told::unwanted;
  next += block.count;
  Block& kept = line.blocks[block.first];
  if (!kept.sent && !kept.received) kept.since = now;
  (sends ? kept.sent : kept.received) = block;
  const bool differs = kept.sent && kept.received && *kept.sent != *kept.received;
  if (line.blocks.size() > blocks_max) line.blocks.erase(line.blocks.begin());
  return differs ? Told::differs : Told::kept;
}

std::optional<std::uint32_t> FrameRoots::late_line(std::uint32_t chain, std::uint32_t number,
                                                   Instant now) const {
  const Epoch* const epoch = find(chain, number);
  if (epoch == nullptr) return std::nullopt;
  const auto late = [&](const Block& block) { return now - block.since > late_after; };
  for (std::uint32_t i = 0; i < epoch->lines.size(); ++i) {
    const Line& line = epoch->lines[i];
    for (const auto& [first, block] : line.blocks) {
      if (late(block) && (!block.sent || !block.received)) return i;
    }
  }
  return std::nullopt;
}

const proof::FrameBlock* FrameRoots::agreed(std::uint32_t chain, std::uint32_t number,
                                            std::uint32_t line, std::uint32_t first) const {
  const Epoch* const epoch = find(chain, number);
  if (epoch == nullptr || line >= epoch->lines.size()) return nullptr;
  const auto found = epoch->lines[line].blocks.find(first);
  if (found == epoch->lines[line].blocks.end()) return nullptr;
  const Block& block = found->second;
  return block.sent && block.received && *block.sent == *block.received ? &*block.sent : nullptr;
}

}  // namespace weft::inference
