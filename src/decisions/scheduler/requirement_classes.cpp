#include "decisions/scheduler/requirement_classes.h"

#include <utility>

namespace weft::scheduler {

void RequirementClasses::drop_unused(const WorkerTable& workers) {
  for (auto each = classes_.begin(); each != classes_.end();) {
    if (each->second->jobs > 0) {
      ++each;
      continue;
    }
    for (const auto& [sequence, worker] : workers.in_order())
      std::erase(worker->classes, each->second.get());
    each = classes_.erase(each);
  }
}

RequirementClass& RequirementClasses::of(const Job& job, const WorkerTable& workers, Instant now) {
  ClassKey key = ClassKey::of(job);
  if (const auto found = classes_.find(key); found != classes_.end()) return *found->second;
  if (classes_.size() >= classes_kept_max) drop_unused(workers);
  auto made = std::make_unique<RequirementClass>();
  made->key = key;
  made->empty_since = now;
  for (const auto& [sequence, worker] : workers.in_order()) {
    if (!fits(worker->info, key)) continue;
    worker->classes.push_back(made.get());
    if (worker->sliced()) made->sliced[sequence] = worker;
    if (worker->info.slots > 0) {
      ++made->members[worker->side()];
      made->floors[worker->side()].add(worker->info.price_min, 1);
      if (!worker->newcomer()) {
        ++made->trusted[worker->side()];
        made->trusted_floors[worker->side()].add(worker->info.price_min, 1);
        made->trusted_rates += worker->rate;
      }
    }
    if (worker->free_key) made->free[worker->side()][*worker->free_key] = worker;
  }
  return *classes_.emplace(std::move(key), std::move(made)).first->second;
}

void RequirementClasses::enter(WorkerState& worker) {
  for (auto& [key, each] : classes_) {
    if (!fits(worker.info, key)) continue;
    worker.classes.push_back(each.get());
    if (worker.sliced()) each->sliced[worker.sequence] = &worker;
  }
}

void RequirementClasses::leave(WorkerState& worker) {
  if (!worker.sliced()) return;
  for (RequirementClass* each : worker.classes) each->sliced.erase(worker.sequence);
}

}  // namespace weft::scheduler
