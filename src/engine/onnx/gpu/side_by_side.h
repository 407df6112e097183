// Runs kernels that do not depend on each other as one dispatch.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Joins a kernel B with an earlier kernel A (join_kernels.h) on two conditions: B reads no value
// that A or a kernel between A and B computes, and no kernel between A and B touches the values
// that B writes. This saves a dispatch and runs more threads at once. No arithmetic changes. Call
// it after place_parts(), because kernels that write to one buffer are not joined.
void run_side_by_side(const ScheduleOptions& options, const KernelContext& context,
                      Schedule& schedule);

}  // namespace weft::onnx
