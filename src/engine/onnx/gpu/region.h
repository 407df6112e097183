// Regions: groups of elementwise operators and moves of elements (slices, transpositions,
// concatenations) that one kernel computes, because only nodes of the group read the results in
// between. A thread computes one element of the last result from the elements in memory on which it
// depends. A move only changes how an index is computed; no element is moved.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

// True if a node can be part of a region.
[[nodiscard]] bool fits_region(const KernelContext& context, const Node& node);
// True if a node of a region only moves elements: every element of its output is one of its inputs.
[[nodiscard]] bool only_moves(const Node& node);
// Returns the number of blocks in which each input of a concatenation lies in its result.
[[nodiscard]] std::int64_t joined_blocks(const KernelContext& context, const Node& node);
// True for a concatenation in whose result each input is one contiguous block.
[[nodiscard]] bool joins_end_to_end(const KernelContext& context, const Node& node);

// True if the kernel of a region with these members and the result `root` computes no element of
// `value` more than once.
[[nodiscard]] bool computed_once(const KernelContext& context,
                                 const std::vector<const Node*>& members, ValueId root,
                                 ValueId value);

// Returns the kernel of a region. `members` are in the graph's order, and the kernel computes the
// output of the last one.
[[nodiscard]] std::optional<Kernel> region_kernel(const KernelContext& context,
                                                  const std::vector<const Node*>& members);

}  // namespace weft::onnx
