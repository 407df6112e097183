// The messages about tasks that a worker holds: what is leased to it, taken up again, called back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace weft::protocol {

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
struct Cancel {
  std::vector<HeldTask> tasks{};
  std::string reason{};
};
struct Yield {
  std::vector<HeldTask> tasks{};
};

}  // namespace weft::protocol
