// Chooses the part of a task that an audit computes again. The task's run of workgroups along the
// split axis is cut into `parts` equal parts, of which one is drawn. A remainder of workgroups goes
// to the first parts, one each. Each workgroup is covered with the same probability, so that a
// cheat gains nothing by hiding wrong values at an end. A job that cannot be cut is audited whole.
#pragma once

#include <cstdint>

#include "decisions/trust/draw.h"

namespace weft::trust {

// A run of whole workgroups along the split axis, as in manifest::Range.
struct Part {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

// Returns part `number` of `parts` of a task's run. `parts` is from 1 to task.count; `number` is
// less than `parts`.
[[nodiscard]] Part part_of(const Part& task, std::uint32_t parts, std::uint32_t number);

// Draws the part of a result of `worker` that is audited.
[[nodiscard]] Part audited_part(const Part& task, std::uint32_t parts, const Secret& secret,
                                const TaskId& id, const PublicKey& worker);

}  // namespace weft::trust
