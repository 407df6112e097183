// Lets the inputs of a concatenation be written directly at their positions in its result.
#pragma once

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

// Gives inputs of concatenations their positions in the memory of the result (alias_of, offset_of);
// the concatenation then copies only its other inputs. No arithmetic changes. A kernel never reads
// and writes the same memory, because WebGPU forbids it: if the kernel that computes an input reads
// from the memory of the result, the input keeps its own memory. `full` is true, by ValueId, if an
// element takes four bytes instead of two; an input and the result must agree. With `apart`, inputs
// that are joined image by image are also placed if no other node reads them.
void place_parts(const KernelContext& context, const std::vector<bool>& full, bool apart,
                 Schedule& schedule);

}  // namespace weft::onnx
