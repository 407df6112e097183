// Every message between a worker and the coordinator, as structs. codec.h turns them into frames
// and back.
//
//   worker                               coordinator
//   Hello{versions, key, nonce ...}  ->
//                                    <-  Challenge{nonce, coordinator, signature}: it proves its
//                                    key
//   Prove{signature}                 ->  signs hello_digest()
//                                    <-  Welcome{session...}
//   Resume{held tasks}               ->  after a reconnect, once
//                                    <-  Lease{job, tasks...}
//   Result{task, root, outputs}+bytes->
//   Receipt{items, signature}        ->  one signature for a batch of results
//                                    <-  OpenChunks{task, chunks}: an audit asks for Merkle paths
//   Opening{roots, paths}            ->
//                                    <-  Verdict{task, accepted, paid}
//   Checkpoint{task, blob, done}     ->  the saved state of a long task, stored by PUT before
//                                    <-  Yield{task}: stop at the next checkpoint
// Either side may send Error and close. Text frames carry messages; Result travels as a binary
// frame with its bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/base/ids.h"

namespace weft::protocol {

inline constexpr std::uint32_t version = 4;
inline constexpr std::size_t frame_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t opened_chunks_max = 16;  // Chunks of one OpenChunks.
inline constexpr std::size_t inline_output_bytes_max =
    std::size_t{64} << 10;  // Larger outputs go by PUT /v1/blobs/{sha256}.

enum class WorkerKind : std::uint8_t { native, browser };
enum class DeviceKind : std::uint8_t { gpu, cpu };

// What a worker says of itself. Rates are its own measurements: they order the queue; a canary's
// prices its job.
struct Capabilities {
  DeviceKind device = DeviceKind::gpu;
  std::string vendor{};
  std::string architecture{};
  std::string description{};
  std::string backend{};
  std::vector<std::string> features{};
  std::map<std::string, std::uint64_t> limits{};  // WebGPU's names.
  std::uint64_t memory_bytes = 0;                 // What a task may use.
  double copy_gb_per_s = 0;
  double f32_gflop_per_s = 0;
};

struct Hello {
  std::vector<std::uint32_t> versions{};
  PublicKey key{};
  Hash nonce{};  // 32 random bytes of this connection, which the coordinator signs.
  WorkerKind kind = WorkerKind::native;
  std::string software{};   // "weft/0.1.0".
  std::uint32_t slots = 1;  // Tasks it wants to hold at a time.
  Capabilities capabilities{};
  // 0: its tasks run in turn, each with all of the memory. Otherwise they run at a time, in time
  // slices, each in a partition of so many bytes, or of as many as its job requires where that is
  // more.
  std::uint64_t slice_memory_bytes = 0;
};
struct Challenge {
  std::uint32_t version = protocol::version;  // Chosen from Hello::versions.
  Hash nonce{};  // 32 random bytes: also the session's nonce in receipts.
  PublicKey coordinator{};
  Signature signature{};  // Signs challenge_digest(): it holds this key and has this name.
  // On loopback, to native workers: where the operator's own processes find an invitation.
  std::string invite_file{};
};
struct Prove {
  Signature signature{};  // Signs hello_digest(coordinator, nonce, worker).
  std::string invite{};   // The operator's invitation (crypto/invitation.h), where it has one.
};
struct Welcome {
  std::string session{};
  std::uint32_t beat_ms = 1000;  // Between Beats while a lease is held.
  std::string blob_token{};      // For PUT /v1/blobs: Authorization: Bearer TOKEN.
  MicroCredits balance = 0;
};
struct HeldTask {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash proof{};  // In Resume: the lease's. Without it the lease is not taken up again.
};
struct Resume {
  std::vector<HeldTask> held{};
};
struct LeasedTask {
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  std::uint32_t first = 0;  // The range of workgroups along the split axis.
  std::uint32_t count = 0;
  Hash proof{};  // That it was leased, to be shown in Resume.
};
// Where a task goes on: a checkpoint (Checkpoint, below) that holds `done` of its parts.
struct ResumePoint {
  std::uint32_t index = 0;  // The task.
  Hash blob{};
  std::uint64_t bytes = 0;
  std::uint32_t done = 0;
};
struct Lease {
  JobId job{};
  Hash manifest{};                         // Blob: the manifest with all data as blobs.
  std::uint32_t piece_workgroups_max = 0;  // See exec::RunOptions; 0: one dispatch.
  std::uint32_t wall_ms_max = 30'000;      // For each task.
  std::vector<LeasedTask> tasks{};
  std::vector<ResumePoint> resume{};  // For some of the tasks.
  std::uint32_t checkpoint_ms = 0;  // A long task sends a checkpoint for each 5 % of its work, but
                                    // not more often; 0: none are wanted.
  PublicKey client{};  // For workers that run tasks in slices: between whom their time is shared,
  double weight = 1;   // and at which weight.
};
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
};
struct Receipt {
  std::vector<ReceiptItem> items{};
  Signature signature{};  // Signs proof::receipt_digest().
};
struct TaskFailed {
  TaskId task{};
  std::uint32_t attempt = 0;
  std::string code{};  // weft::ErrorCode as a word.
  std::string message{};
};
struct Beat {
  std::uint32_t running = 0;
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
struct Slots {
  std::uint32_t slots = 1;  // 0: paused; what is held is finished.
};
struct Bye {
  std::string reason{};  // The worker leaves on purpose; what it holds goes elsewhere at once.
};
struct Verdict {
  TaskId task{};
  std::uint32_t attempt = 0;
  bool accepted = false;
  MicroCredits paid = 0;
  MicroCredits balance = 0;
  std::string reason{};  // Where refused.
};
struct Cancel {
  std::vector<HeldTask> tasks{};
  std::string reason{};
};
struct Yield {
  std::vector<HeldTask> tasks{};
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
struct ErrorMessage {
  std::string code{};
  std::string message{};
};

using WorkerMessage = std::variant<Hello, Prove, Resume, TaskResult, Receipt, TaskFailed, Beat,
                                   Slots, Bye, Opening, Checkpoint, ErrorMessage>;
using CoordinatorMessage =
    std::variant<Challenge, Welcome, Lease, Verdict, Cancel, OpenChunks, Yield, ErrorMessage>;

}  // namespace weft::protocol
