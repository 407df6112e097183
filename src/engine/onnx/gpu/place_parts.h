// Values that a concatenation joins end to end are written where they stand in its result.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Gives such values places in the memory of the concatenation (alias_of, offset_of) and leaves it
// copies of the others alone. No arithmetic changes. A kernel never reads and writes the same
// memory, as WebGPU demands: a value whose kernel reads from that memory keeps its own.
void place_parts(const KernelContext& context, Schedule& schedule);

}  // namespace weft::onnx
