#include "decisions/trust/audit.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::trust {

Part part_of(const Part& task, std::uint32_t parts, std::uint32_t number) {
  check(parts >= 1 && parts <= task.count && number < parts,
        "a part is one of the task's workgroups at least");
  const std::uint32_t each = task.count / parts;
  // The first `longer` parts have one workgroup more.
  const std::uint32_t longer = task.count % parts;
  return {.first = task.first + number * each + std::min(number, longer),
          .count = each + (number < longer ? 1U : 0U)};
}

Part audited_part(const Part& task, std::uint32_t parts, const Secret& secret, const TaskId& id,
                  const PublicKey& worker) {
  const std::uint32_t cut =
      std::clamp<std::uint32_t>(parts, 1, std::max<std::uint32_t>(task.count, 1));
  return part_of(
      task, cut,
      static_cast<std::uint32_t>(draw_below(cut, secret, Purpose::audit_part, id, worker)));
}

}  // namespace weft::trust
