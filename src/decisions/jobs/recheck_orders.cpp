#include "decisions/jobs/recheck_orders.h"

#include <algorithm>
#include <utility>

#include "common/manifest/split.h"
#include "decisions/trust/audit.h"

namespace weft::jobs {

std::vector<manifest::Range> recheck_parts(const PaidTask& paid) {
  constexpr std::uint32_t parts_max = 32;
  const auto whole = manifest::task_range(*paid.manifest, paid.task.index);
  if (!manifest::can_cut(*paid.manifest)) return {whole};
  const std::uint32_t parts = std::min(whole.count, parts_max);
  std::vector<manifest::Range> ranges;
  for (std::uint32_t number = 0; number < parts; ++number) {
    const auto part = trust::part_of({.first = whole.first, .count = whole.count}, parts, number);
    ranges.push_back({.first = part.first, .count = part.count});
  }
  return ranges;
}

void order_recheck(CoreTables& tables, const PaidTask& paid, bool waits_for_second) {
  VerifyOrder order{.task = paid.task,
                    .manifest = paid.manifest,
                    .root = paid.root,
                    .outputs = paid.outputs,
                    .ranges = recheck_parts(paid),
                    .client = paid.client,
                    .rivals = {},
                    .paid = true,
                    .waits_for_second = waits_for_second};
  tables.outbox.effect([&world = tables.world, order = std::move(order)] { world.verify(order); });
}

void order_recheck(CoreTables& tables, Rechecks& rechecks, const PublicKey& worker,
                   const std::shared_ptr<const PaidTask>& paid) {
  if (rechecks.wait_for(worker, paid))
    order_recheck(tables, *paid, true);  // Otherwise the task is being computed already.
}

}  // namespace weft::jobs
