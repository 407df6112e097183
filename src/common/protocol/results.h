// The messages about a worker's computations: results and checkpoints, receipts, failures, the
// Merkle paths that an audit asks for, and the verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace weft::protocol {

inline constexpr std::size_t opened_chunks_max = 16;  // The most chunks of one OpenChunks.
// The first version with LeasedTask::step_roots, TaskResult::step_roots, OpenStates and States.
inline constexpr std::uint32_t step_roots_version = 8;
// Most roots: one for each group of steps but the last.
inline constexpr std::size_t step_roots_max = 31;
inline constexpr std::size_t opened_states_max = 8;  // The most groups of one OpenStates.
inline constexpr std::size_t inline_output_bytes_max =
    std::size_t{64} << 10;  // Larger outputs are sent by PUT /v1/blobs/{sha256}.

struct OutputPart {
  Hash hash{};
  std::uint64_t bytes = 0;
  // True: the bytes are in this frame's payload, in order. False: PUT has sent them already.
  bool in_frame = false;
};
struct TaskResult {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash root{};
  std::vector<OutputPart> outputs{};
  double gpu_seconds = 0;  // GPU time of the work since the checkpoint, if any.
  double wall_seconds = 0;
  double resumed = 0;  // The share of the task's work that came out of a checkpoint, in [0, 1).
  // If the lease asked for them: R_1 to R_(n-1), where R_i is proof::task_root() of all outputs
  // after the first i of the job's n groups of steps. Empty: the worker has none, because the task
  // ran whole. R_n is `root`.
  std::vector<Hash> step_roots{};
};
struct ReceiptItem {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash root{};
  // The part of the task that was leased; a `count` of 0 is the whole task.
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
struct Receipt {
  std::vector<ReceiptItem> items{};  // The signed items; at most proof::receipt_claims_max.
  Signature signature{};             // Signs proof::receipt_digest().
};
struct TaskFailed {
  TaskId task{};
  std::uint32_t attempt = 0;
  std::string code{};  // The word of the weft::ErrorCode.
  std::string message{};
};
struct Checkpoint {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash blob{};
  std::uint64_t bytes = 0;
  // Parts of the task that are done: workgroups along the axis, or steps if the job cannot be cut.
  std::uint32_t done = 0;
  std::uint32_t of = 0;  // The number of all parts of the task.
  bool stopped = false;  // True if the worker stops and gives the lease back.
};
struct Verdict {
  TaskId task{};
  std::uint32_t attempt = 0;
  bool accepted = false;
  MicroCredits paid = 0;
  MicroCredits balance = 0;
  std::string reason{};  // Set if the result is refused.
};
// An audit of a result that has no verdict yet: the worker must show that these chunks belong to
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
  std::uint64_t chunks = 0;      // The number of chunks of the output.
  std::vector<Hash> siblings{};  // See proof::InclusionPath.
};
struct Opening {
  TaskId task{};
  std::uint32_t attempt = 0;
  // Roots of all outputs, which are the leaves of the task's root. Empty: the worker no longer has
  // the result.
  std::vector<Hash> roots{};
  std::vector<ChunkPath> paths{};  // One path for each requested chunk, in the requested order.
};
// A check of groups of steps, for a result that has no verdict yet: the worker must store the
// states from which the groups are computed.
struct OpenStates {
  TaskId task{};
  std::uint32_t attempt = 0;
  // Group g, from 1 to n - 1, asks for the state before it: all outputs after the first g groups.
  std::vector<std::uint32_t> groups{};
};
struct StepState {
  std::uint32_t group = 0;
  Hash blob{};              // A blob in the form of proof/task_state.h, sent by PUT before.
  std::uint64_t bytes = 0;  // The size of the blob. 0: the worker does not have this state.
};
struct States {
  TaskId task{};
  std::uint32_t attempt = 0;
  std::vector<StepState> states{};  // One for each requested group, in the requested order.
};

}  // namespace weft::protocol
