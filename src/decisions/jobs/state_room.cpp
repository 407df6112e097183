#include "decisions/jobs/state_room.h"

#include <algorithm>
#include <vector>

#include "common/manifest/split.h"
#include "common/manifest/step_groups.h"
#include "common/proof/task_state.h"
#include "common/protocol/results.h"

namespace weft::jobs {

CheckedGroups checked_groups(const manifest::Manifest& manifest) {
  const std::uint32_t all = manifest::step_groups(manifest);
  if (all < 2 || manifest.verify.anyone) return {};
  // Each task of such a job has all outputs, so that one is as large as another.
  const std::uint64_t fit = check_states_bytes_max / state_bytes(manifest, 0);
  if (fit == 0) return {};
  const auto most =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, protocol::opened_states_max));
  return {.all = all, .apart_max = std::min(most, all - 1)};
}

std::uint64_t state_bytes(const manifest::Manifest& manifest, std::uint32_t task) {
  const auto whole = manifest::task_range(manifest, task);
  std::vector<std::uint64_t> outputs;
  for (std::size_t i = 0; i < manifest.output_bytes().size(); ++i)
    outputs.push_back(manifest::output_extent(manifest, i, whole).size);
  return proof::state_bytes(outputs);
}

std::uint64_t state_room(const manifest::Manifest& manifest) {
  return checked_groups(manifest).apart_max * state_bytes(manifest, 0);
}

}  // namespace weft::jobs
