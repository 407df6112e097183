// What members of chains committed to of their frames: of each line the roots that its sender and
// its receiver told of (common/proof/frame_block.h), and whether the two say the same.
//
// Two that differ prove nothing about either of them. Pure; bounded: the newest epochs_max epochs
// of chains, and blocks_max blocks of each line. Not for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/proof/frame_block.h"

namespace weft::inference {

class FrameRoots {
 public:
  static constexpr std::size_t epochs_max = 64;
  static constexpr std::size_t blocks_max = 1024;
  static constexpr Duration late_after = std::chrono::minutes(1);

  // The chain's members commit in this epoch.
  void begin(std::uint32_t chain, std::uint32_t epoch, std::uint32_t members);

  // `unwanted`: of no such epoch, or a block that is not the next one of this member and line.
  enum class Told : std::uint8_t { kept, differs, unwanted };
  [[nodiscard]] Told add(const proof::FrameBlock& block, std::uint32_t member, Instant now);

  // A line of which one end has told of a block for late_after and the other has not. A sender
  // tells when it hands a frame to its connection, so that it is longer than any line that still
  // works.
  [[nodiscard]] std::optional<std::uint32_t> late_line(std::uint32_t chain, std::uint32_t epoch,
                                                       Instant now) const;
  // The block of which both ends told the same.
  [[nodiscard]] const proof::FrameBlock* agreed(std::uint32_t chain, std::uint32_t epoch,
                                                std::uint32_t line, std::uint32_t first) const;

 private:
  struct Block {
    std::optional<proof::FrameBlock> sent{}, received{};
    Instant since{};
  };
  struct Line {
    std::map<std::uint32_t, Block> blocks{};  // By their first frame.
    std::uint32_t sent = 0, received = 0;     // The next block's first frame.
  };
  struct Epoch {
    std::uint32_t chain = 0;
    std::uint32_t epoch = 0;
    std::vector<Line> lines{};
  };
  [[nodiscard]] const Epoch* find(std::uint32_t chain, std::uint32_t epoch) const;

  std::deque<Epoch> epochs_;  // The oldest first.
};

}  // namespace weft::inference
