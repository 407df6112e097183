// Events of workers and tasks that the scheduler is told of, as plain data.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace weft::scheduler {

// The reason why a worker is removed.
enum class Departure : std::uint8_t {
  left,  // The worker said Bye: no task is blamed.
  lost,  // The connection broke: the task that the worker was running may be the cause.
};

// The tasks that a worker no longer gets after its result of a task was refused.
enum class Barred : std::uint8_t {
  job,   // All tasks of the job, because the result was wrong.
  task,  // Only that task, because the result was lost.
};

struct TaskResult {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  double gpu_seconds = 0;  // GPU time, as the worker reports it.
  double resumed = 0;      // The share of the task's work that came out of a checkpoint.
};
// A worker has stored a checkpoint of a task.
struct TaskCheckpoint {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  double done = 0;       // The share of the task's work that the checkpoint holds, in (0, 1).
  bool stopped = false;  // True if the lease ends with the checkpoint.
};

}  // namespace weft::scheduler
