#include "decisions/scheduler/types.h"

#include "common/manifest/split.h"

namespace weft::scheduler {

Job job_from(const JobId& id, const manifest::Manifest& manifest) {
  return {.id = id,
          .kind = manifest.kind,
          .requirements = manifest.requirements,
          .priority = manifest.priority,
          .tasks = manifest.split.tasks,
          .workgroups = manifest::axis_length(manifest),
          .replicas = manifest.verify.replicas,
          .replicas_first = 0,
          .budget = manifest.budget,
          .per_unit = 0,
          .stake = 0,
          .waited = {},
          .deadline = {},
          .estimate = {},
          .client = {},
          .share = 1,
          .anyone = manifest.verify.anyone,
          .states_shared = manifest.verify.replicas == 1 && manifest.verify.audit == 0};
}

}  // namespace weft::scheduler
