// Kernels that do not wait for each other run as one dispatch.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// A kernel moves to an earlier one (join_kernels.h) if it needs nothing that is computed from there
// on, and if what it writes is not touched in between: a dispatch less, and more threads at once.
// No arithmetic changes. Goes after place_parts(): kernels that write to one buffer stay apart.
void run_side_by_side(const ScheduleOptions& options, const KernelContext& context,
                      Schedule& schedule);

}  // namespace weft::onnx
