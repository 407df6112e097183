// Computes the least memory traffic and arithmetic of a range of a job: its point in a roofline
// model.
#pragma once

#include <cstdint>

#include "engine/exec/executor.h"

namespace weft::exec {

struct Traffic {
  std::uint64_t bytes = 0;  // The bytes of the task's inputs and outputs, each counted once.
  double operations = 0;    // The additions and multiplications of a kernel; 0 for a shader.
};
// `range` must lie within the job.
[[nodiscard]] Traffic traffic(const Job& job, manifest::Range range);

}  // namespace weft::exec
