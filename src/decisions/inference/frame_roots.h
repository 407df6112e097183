// Keeps the roots that members of chains committed to. For each line, it compares the roots that
// the sender and the receiver reported (common/proof/frame_block.h).
//
// Two different roots prove nothing about either end. Pure; bounded: the newest epochs_max epochs
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

  // Begins an epoch in which the chain's members commit.
  void begin(std::uint32_t chain, std::uint32_t epoch, std::uint32_t members);

  // The result of add(). `unwanted`: the epoch is unknown, or the block is not the next one of this
  // member and line.
  enum class Told : std::uint8_t { kept, differs, unwanted };
  [[nodiscard]] Told add(const proof::FrameBlock& block, std::uint32_t member, Instant now);

  // Returns a line of which one end reported a block late_after ago and the other end has not
  // reported it. A sender reports a block when it hands a frame to its connection, so late_after is
  // longer than the delay of any working line.
  [[nodiscard]] std::optional<std::uint32_t> late_line(std::uint32_t chain, std::uint32_t epoch,
                                                       Instant now) const;
  // Returns the block for which both ends reported the same root; null if no such block is known.
  [[nodiscard]] const proof::FrameBlock* agreed(std::uint32_t chain, std::uint32_t epoch,
                                                std::uint32_t line, std::uint32_t first) const;

 private:
  struct Block {
    std::optional<proof::FrameBlock> sent{}, received{};
    Instant since{};
  };
  struct Line {
    std::map<std::uint32_t, Block> blocks{};  // Blocks, by the number of their first frame.
    std::uint32_t sent = 0, received = 0;     // First frames of each end's next block.
  };
  struct Epoch {
    std::uint32_t chain = 0;
    std::uint32_t epoch = 0;
    std::vector<Line> lines{};
  };
  [[nodiscard]] const Epoch* find(std::uint32_t chain, std::uint32_t epoch) const;

  std::deque<Epoch> epochs_;  // Epochs, the oldest first.
};

}  // namespace weft::inference
