#include "decisions/scheduler/worker_table.h"

#include <utility>

#include "common/base/check.h"

namespace weft::scheduler {

WorkerState& WorkerTable::add(std::unique_ptr<WorkerState> worker) {
  worker->sequence = next_sequence_++;
  const PublicKey key = worker->info.key;
  const auto [place, is_new] = workers_.emplace(key, std::move(worker));
  check(is_new, "a worker is in the table once");
  WorkerState& added = *place->second;
  in_order_[added.sequence] = &added;
  return added;
}

void WorkerTable::erase(const WorkerState& worker) {
  in_order_.erase(worker.sequence);
  workers_.erase(PublicKey(worker.info.key));
}

}  // namespace weft::scheduler
