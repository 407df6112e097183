// The messages about what a worker has computed: results and checkpoints, receipts, failures, the
// Merkle paths that an audit asks for, and the verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace weft::protocol {

inline constexpr std::size_t opened_chunks_max = 16;  // Chunks of one OpenChunks.
inline constexpr std::size_t inline_output_bytes_max =
    std::size_t{64} << 10;  // Larger outputs go by PUT /v1/blobs/{sha256}.

struct OutputPart {
  Hash hash{};
  std::uint64_t bytes = 0;
  bool in_frame = false;  // In this frame's payload, in order; otherwise PUT before.
};
struct TaskResult {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash root{};
  std::vector<OutputPart> outputs{};
  double gpu_seconds = 0;  // For what was computed here.
  double wall_seconds = 0;
  double resumed = 0;  // The share of its work that came out of a checkpoint, in [0, 1).
};
struct ReceiptItem {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash root{};
  std::uint32_t first = 0;  // The part of the task that was leased; `count` 0: the whole.
  std::uint32_t count = 0;
};
struct Receipt {
  std::vector<ReceiptItem> items{};  // At most proof::receipt_claims_max.
  Signature signature{};             // Signs proof::receipt_digest().
};
struct TaskFailed {
  TaskId task{};
  std::uint32_t attempt = 0;
  std::string code{};  // weft::ErrorCode as a word.
  std::string message{};
};
struct Checkpoint {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash blob{};
  std::uint64_t bytes = 0;
  std::uint32_t done =
      0;  // Parts of the task: workgroups along the axis, or steps where the job cannot be cut,
  std::uint32_t of = 0;  // of so many.
  bool stopped = false;  // It yields: the lease is given back.
};
struct Verdict {
  TaskId task{};
  std::uint32_t attempt = 0;
  bool accepted = false;
  MicroCredits paid = 0;
  MicroCredits balance = 0;
  std::string reason{};  // Where refused.
};
// An audit of a result whose verdict is still to come: its worker shows that these chunks belong to
// the root that it signed.
struct ChunkName {
  std::uint32_t output = 0;
  std::uint64_t chunk = 0;
};
struct OpenChunks {
  TaskId task{};
  std::uint32_t attempt = 0;
  std::vector<ChunkName> chunks{};
};
struct ChunkPath {
  std::uint32_t output = 0;
  std::uint64_t chunk = 0;
  std::uint64_t chunks = 0;      // Chunks of the output.
  std::vector<Hash> siblings{};  // proof::InclusionPath.
};
struct Opening {
  TaskId task{};
  std::uint32_t attempt = 0;
  std::vector<Hash> roots{};  // Roots of all outputs: the leaves of the task's root. Empty: the
                              // worker does not have it any more.
  std::vector<ChunkPath> paths{};  // For each chunk that was asked for, in that order.
};

}  // namespace weft::protocol
