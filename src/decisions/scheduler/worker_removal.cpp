#include "decisions/scheduler/worker_removal.h"

namespace weft::scheduler {

void WorkerRemoval::disconnect(WorkerState& worker, Blame head, const Error& why, Instant now) {
  worker.gone = true;
  parts_.members.set_slots(worker, 0);
  parts_.leases.lose_all(worker, head, why, now);
  tables_.histories.departs(worker.info.key, now);
  parts_.listings.list(worker);
  tables_.agenda.forget(worker);
  RequirementClasses::leave(worker);
  tables_.workers.erase(worker);
}

}  // namespace weft::scheduler
