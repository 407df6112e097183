// Draws the groups of steps of a result that are checked. A worker commits to the root of its state
// after each group before the draw is made, and the draw depends on all of these roots: a worker
// that knows which groups of an earlier attempt were drawn learns nothing about the next one.
//
// The same roots give the same groups, also after a restart. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/draw.h"

namespace weft::trust {

// The digest of all roots of a result: `before` are those after each group but the last, `result`
// is the result's own. Zeros if `before` is empty: the worker committed to no steps.
[[nodiscard]] Hash committed_steps(std::span<const Hash> before, const Hash& result);

struct Committed {
  TaskId task;
  PublicKey worker;
  Hash steps;  // Digest of the roots (committed_steps()).
};

// Draws `count` different groups of `of`, in order. `count` is from 1 to `of`.
[[nodiscard]] std::vector<std::uint32_t> drawn_groups(const Committed& of_result, std::uint32_t of,
                                                      std::uint32_t count, const Secret& secret);

}  // namespace weft::trust
