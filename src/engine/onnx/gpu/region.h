// Regions: elementwise operators and moves of elements (slices, transpositions, concatenations)
// whose results only each other read, computed by one kernel. A thread computes one element of the
// last result, and follows it back to the elements that lie in memory; a move is then the way in
// which an index is computed, and moves nothing.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

// True if a node can be part of a region.
[[nodiscard]] bool fits_region(const KernelContext& context, const Node& node);
// True if a node of a region computes nothing: its elements are those of its inputs.
[[nodiscard]] bool only_moves(const Node& node);
// How many blocks of its result each input of a concatenation is in.
[[nodiscard]] std::int64_t joined_blocks(const KernelContext& context, const Node& node);
// True for a concatenation whose inputs lie one after the other in its result.
[[nodiscard]] bool joins_end_to_end(const KernelContext& context, const Node& node);

// True if no element of `value` is computed more than once by `members`, which compute `root`.
[[nodiscard]] bool computed_once(const KernelContext& context,
                                 const std::vector<const Node*>& members, ValueId root,
                                 ValueId value);

// The kernel of a region, whose members are in the graph's order and the last one's output is what
// it computes.
[[nodiscard]] std::optional<Kernel> region_kernel(const KernelContext& context,
                                                  const std::vector<const Node*>& members);

}  // namespace weft::onnx
