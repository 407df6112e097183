// Values that a concatenation joins are written where they stand in its result.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Gives such values places in the memory of the concatenation (alias_of, offset_of) and leaves it
// copies of the others alone. No arithmetic changes. A kernel never reads and writes the same
// memory, as WebGPU demands: a value whose kernel reads from that memory keeps its own. `full`: by
// ValueId, true if an element takes four bytes and not two; a part is as wide as its whole.
// `apart`: also parts that are joined image by image, if nothing else reads them.
void place_parts(const KernelContext& context, const std::vector<bool>& full, bool apart,
                 Schedule& schedule);

}  // namespace weft::onnx
