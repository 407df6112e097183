// The activation frames that a worker sent and received as a member of chains. FrameLogs tells the
// coordinator a Merkle root over each 32 frames of a line, and keeps the frames for a while, so
// that the worker can present any frame under its root (common/proof/frame_block.h).
//
// Frames outlive their chain: the coordinator asks for them after a failed audit, and a cheating
// member could end the chain before that. Bounds: bytes_max over all lines; the oldest block is
// removed first. Threading: one thread.
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
  // Maximum number of lines, over all chains and epochs.
  static constexpr std::size_t logs_max = 256;

  explicit FrameLogs(std::uint64_t bytes_max = bytes_max_default) : bytes_max_(bytes_max) {}

  struct Line {
    std::uint32_t chain = 0;
    std::uint32_t epoch = 0;
    std::uint32_t line = 0;
    friend bool operator==(const Line&, const Line&) = default;
  };
  // Called for each block that is full, or that a commit has ended.
  using OnBlock = std::function<void(const proof::FrameBlock& block)>;

  // Adds the next frame of a line. Frames without hidden states are only searched for commits.
  void add(const Line& line, ByteSpan frame, const OnBlock& on_block);
  // Presents the frames that are wanted, kept and under a root, in their order.
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
    std::uint64_t ended = 0;  // Number of the block, counted over all lines.
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
  std::deque<Log> logs_;  // Logs in the order in which their lines began.
};

}  // namespace weft::worker
