// Steps that a region can compute together become one.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// `steps` are in the order in which they run. What a region takes in depends on its nodes and on
// their readers alone, and no region goes over the barrier: parts of the graph have the same ones.
void merge_regions(const KernelContext& context, const ScheduleOptions& options,
                   std::vector<Step>& steps);

}  // namespace weft::onnx
