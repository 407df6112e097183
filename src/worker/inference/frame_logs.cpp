#include "worker/inference/frame_logs.h"

#include <algorithm>
#include <utility>

#include "common/crypto/sha256.h"
#include "common/proof/activations.h"

namespace weft::worker {

namespace {

// The sequence follows the four bytes format, kind, want and wire (common/proof/activations.h).
std::uint32_t sequence_of(ByteSpan frame) {
  constexpr std::size_t before = 4;
  return frame.size() < before + 4 ? 0 : read_le<std::uint32_t>(frame, before);
}

}  // namespace

void FrameLogs::add(const Line& line, ByteSpan frame, const OnBlock& on_block) {
  const bool commits = proof::is_commit(frame);
  if (!commits && !proof::has_activations(frame)) return;
  auto log = std::ranges::find(logs_, line, &Log::line);
  if (log == logs_.end()) {
    if (logs_.size() >= logs_max) {
      for (const Block& block : logs_.front().blocks) {
        for (const Frame& one : block.frames) bytes_ -= one.bytes.size();
      }
      for (const Frame& one : logs_.front().open.frames) bytes_ -= one.bytes.size();
      logs_.pop_front();
    }
    log = logs_.insert(logs_.end(), Log{.line = line});
  }
  if (commits) return end_block(*log, on_block);
  log->open.frames.push_back({.sequence = sequence_of(frame),
                              .hash = crypto::sha256(frame),
                              .bytes = {frame.begin(), frame.end()}});
  bytes_ += frame.size();
  if (log->open.frames.size() >= proof::frame_block_max) end_block(*log, on_block);
}

void FrameLogs::end_block(Log& log, const OnBlock& on_block) {
  if (log.open.frames.empty()) return;
  std::vector<Hash> hashes;
  for (const Frame& frame : log.open.frames) hashes.push_back(frame.hash);
  const proof::FrameBlock told{.chain = log.line.chain,
                               .epoch = log.line.epoch,
                               .line = log.line.line,
                               .first = log.open.first,
                               .count = static_cast<std::uint32_t>(hashes.size()),
                               .root = proof::root_of_roots(hashes)};
  log.open.ended = ++ended_;
  log.blocks.push_back(std::exchange(log.open, {.first = told.first + told.count}));
  make_room();
  on_block(told);
}

void FrameLogs::make_room() {
  while (bytes_ > bytes_max_) {
    Log* oldest = nullptr;
    for (Log& log : logs_) {
      if (!log.blocks.empty() &&
          (oldest == nullptr || log.blocks.front().ended < oldest->blocks.front().ended))
        oldest = &log;
    }
    // Blocks that have not ended are kept: at most 32 frames for each line.
    if (oldest == nullptr) return;
    for (const Frame& frame : oldest->blocks.front().frames) bytes_ -= frame.bytes.size();
    oldest->blocks.pop_front();
  }
}

void FrameLogs::show(const Line& line, const Wanted& wanted,
                     const std::function<void(const proof::FrameOpening&)>& tell) const {
  const auto log = std::ranges::find(logs_, line, &Log::line);
  if (log == logs_.end()) return;
  for (const Block& block : log->blocks) {
    std::vector<Hash> hashes;
    for (const Frame& frame : block.frames) hashes.push_back(frame.hash);
    for (std::uint32_t i = 0; i < block.frames.size(); ++i) {
      if (!wanted(block.first + i, block.frames[i].sequence)) continue;
      auto path = proof::inclusion_path_of_roots(hashes, i);
      if (!path) continue;
      tell({.line = line.line,
            .number = block.first + i,
            .first = block.first,
            .count = static_cast<std::uint32_t>(hashes.size()),
            .siblings = std::move(path->siblings),
            .frame = block.frames[i].bytes});
    }
  }
}

}  // namespace weft::worker
