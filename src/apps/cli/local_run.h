// Runs a job on this machine as a network would run it: with the same tasks and proofs, and with
// the outputs joined in the same order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "engine/exec/executor.h"

namespace weft::cli {

enum class LocalDevice : std::uint8_t { gpu, cpu };

// The tasks [first, last] of a job.
struct TaskSpan {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct LocalOutput {
  std::string name;                  // "output0"
  std::string type;                  // "u32"
  std::vector<std::uint64_t> shape;  // Shape of the whole job's output, even if only a part ran.
  ByteVector bytes;
};

struct LocalResult {
  std::string device;  // Description of the device.
  std::uint32_t tasks_total = 0;
  TaskSpan tasks;                // The tasks that ran.
  std::vector<Hash> task_roots;  // One root for each task that ran.
  std::optional<Hash> job_root;  // Set if all tasks ran.
  std::vector<LocalOutput> outputs;
  double gpu_seconds = 0;
  double wall_seconds = 0;  // Time of running and proving, without start-up and compiling.
  std::uint32_t dispatches = 0;
};

// Runs the job; blocks. `progress` is called with the number of done tasks and of all tasks. The
// bounds are those of a worker.
[[nodiscard]] Result<LocalResult> run_locally(
    std::shared_ptr<const exec::Job> job, LocalDevice device, std::optional<TaskSpan> tasks,
    const std::function<void(std::uint32_t, std::uint32_t)>& progress);

}  // namespace weft::cli
