// The frames that a worker sent and received as a member of chains, as far as they hand hidden
// states over: a Merkle root over each 32 of them, which it tells the coordinator, and the frames
// themselves for a while, so that it can show any of them under its root
// (common/proof/frame_block.h).
//
// Frames outlive their chain: the coordinator asks for them when an audit has failed, and a member
// that would rather not be found could end the chain before. Bounds: bytes_max over all lines; the
// oldest block goes first. Threading: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "common/proof/frame_block.h"

namespace weft::worker {

class FrameLogs {
 public:
  static constexpr std::uint64_t bytes_max_default = std::uint64_t{64} << 20;
  static constexpr std::size_t logs_max = 256;  // Lines, of all chains and epochs.

  explicit FrameLogs(std::uint64_t bytes_max = bytes_max_default) : bytes_max_(bytes_max) {}

  struct Line {
    std::uint32_t chain = 0;
    std::uint32_t epoch = 0;
    std::uint32_t line = 0;
    friend bool operator==(const Line&, const Line&) = default;
  };
  // Hears of each block that is full, or that a commit ended.
  using OnBlock = std::function<void(const proof::FrameBlock& block)>;

  // Takes the next frame of a line; frames that hand nothing over are only looked at for commits.
  void add(const Line& line, ByteSpan frame, const OnBlock& on_block);
  // Those that are wanted, kept and under a root, in their order.
  using Wanted = std::function<bool(std::uint32_t number, std::uint32_t sequence)>;
  void show(const Line& line, const Wanted& wanted,
            const std::function<void(const proof::FrameOpening& opening)>& tell) const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Frame {
    std::uint32_t sequence = 0;
    Hash hash;
    ByteVector bytes;
  };
  struct Block {
    std::uint32_t first = 0;
    std::uint64_t ended = 0;  // Counts blocks of all lines.
    std::vector<Frame> frames{};
  };
  struct Log {
    Line line;
    std::deque<Block> blocks{};
    Block open{};
  };

  void end_block(Log& log, const OnBlock& on_block);
  void make_room();

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::uint64_t ended_ = 0;
  std::deque<Log> logs_;  // The line that began first is first.
};

}  // namespace weft::worker
