// What a range of a job has to move and compute at the least: its place under a roofline.
#pragma once

#include <cstdint>

#include "engine/exec/executor.h"

namespace weft::exec {

struct Traffic {
  std::uint64_t bytes = 0;  // Bytes of the task's inputs and outputs, each once.
  double operations = 0;    // Multiplications and additions of a built-in kernel; 0 for a shader,
                            // since they cannot be counted there.
};
// `range` lies within the job.
[[nodiscard]] Traffic traffic(const Job& job, manifest::Range range);

}  // namespace weft::exec
