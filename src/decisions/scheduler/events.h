// What the scheduler is told of workers and tasks, as plain data.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace weft::scheduler {

// Why a worker is taken out.
enum class Departure : std::uint8_t {
  left,  // It said Bye: no task is blamed.
  lost,  // Its connection broke: whatever it was running may be the cause.
};

struct TaskResult {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  double gpu_seconds = 0;  // As the worker says.
  double resumed = 0;      // The share of its work that came out of a checkpoint.
};
// The state of a task is stored, as far as it was done there.
struct TaskCheckpoint {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  double done = 0;       // Share of its work, in (0, 1).
  bool stopped = false;  // The lease ends with it.
};

}  // namespace weft::scheduler
