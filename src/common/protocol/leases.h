// The messages about tasks that a worker holds: tasks are leased to it, resumed, and called back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace weft::protocol {

struct HeldTask {
  TaskId task{};
  std::uint32_t attempt = 0;
  Hash proof{};  // In Resume: the proof of the lease; no lease is resumed without its proof.
};
struct Resume {
  std::vector<HeldTask> held{};
};
struct LeasedTask {
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  std::uint32_t first = 0;  // The range of workgroups along the split axis.
  std::uint32_t count = 0;
  Hash proof{};  // Proof of the lease, to be shown in Resume.
  // True: the result is to have a root for the end of each group of steps (TaskResult::step_roots).
  // Only for workers of version 8, for jobs with groups (manifest/step_groups.h), and for tasks
  // that do not continue from a checkpoint.
  bool step_roots = false;
};
// The point from which a task continues: a checkpoint (Checkpoint in results.h) that holds `done`
// of its parts.
struct ResumePoint {
  std::uint32_t index = 0;  // The index of the task.
  Hash blob{};
  std::uint64_t bytes = 0;
  std::uint32_t done = 0;
};
struct Lease {
  JobId job{};
  Hash manifest{};  // Blob of the manifest, with all data as blobs.
  // Most workgroups of one dispatch (exec::RunOptions); 0: a task is one dispatch.
  std::uint32_t piece_workgroups_max = 0;
  std::uint32_t wall_ms_max = 30'000;  // The time limit of each task.
  std::vector<LeasedTask> tasks{};
  std::vector<ResumePoint> resume{};  // Checkpoints for some of the tasks.
  // A long task sends a checkpoint after each 5 % of its work, but at most one in this time; 0: the
  // coordinator wants no checkpoints.
  std::uint32_t checkpoint_ms = 0;
  // The client, for workers that run tasks in slices and share their time between clients.
  PublicKey client{};
  double weight = 1;  // The client's weight in this sharing of time.
};
struct Cancel {
  std::vector<HeldTask> tasks{};
  std::string reason{};
};
struct Yield {
  std::vector<HeldTask> tasks{};
};

}  // namespace weft::protocol
