// Runs kernels that do not depend on each other as one dispatch.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Joins a kernel with an earlier kernel (join_kernels.h) on two conditions: it reads no value that
// the earlier kernel or a kernel after that computes, and no kernel between the two touches the
// values that it writes. This saves a dispatch and runs more threads at once. No arithmetic
// changes. Call it after place_parts(), because kernels that write to one buffer are not joined.
void run_side_by_side(const ScheduleOptions& options, const KernelContext& context,
                      Schedule& schedule);

}  // namespace weft::onnx
