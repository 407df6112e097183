// Merges steps that a region can compute together into one step.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Merges steps into regions. `steps` are in the order in which they run. The steps of a region
// depend only on its nodes and their readers, and no region crosses the barrier, so that a part of
// a graph has the same regions as the whole graph.
void merge_regions(const KernelContext& context, const ScheduleOptions& options,
                   std::vector<Step>& steps);

}  // namespace weft::onnx
