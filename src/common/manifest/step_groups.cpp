#include "common/manifest/step_groups.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/manifest/split.h"

namespace weft::manifest {

std::uint32_t step_groups(const Manifest& manifest) {
  if (manifest.kind != Kind::wgsl || manifest.steps.size() < 2 || can_cut(manifest) ||
      !manifest.verify.compare.exact)
    return 0;
  const bool cuts = std::ranges::any_of(manifest.bindings, [](const Binding& binding) {
    return binding.is_output() && binding.split_dim.has_value();
  });
  if (cuts && manifest.split.tasks > 1) return 0;
  return std::min(static_cast<std::uint32_t>(manifest.steps.size()), step_groups_max);
}

StepRange steps_of_group(const Manifest& manifest, std::uint32_t group) {
  const std::uint32_t groups = step_groups(manifest);
  check(group < groups, "a group of steps is one of the job's");
  const auto steps = static_cast<std::uint32_t>(manifest.steps.size());
  const std::uint32_t each = steps / groups;
  const std::uint32_t longer = steps % groups;  // The number of groups with one step more.
  return {.first = group * each + std::min(group, longer),
          .count = each + (group < longer ? 1U : 0U)};
}

}  // namespace weft::manifest
