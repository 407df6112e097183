// What happens to workers: they come, leave, pause, are trusted more or less, and come back with
// tasks that they hold.
//
// Pure; not safe to share between threads. Workers that are not connected are nothing, except
// where a function says so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "decisions/scheduler/class_members.h"
#include "decisions/scheduler/events.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_choice.h"
#include "decisions/scheduler/worker_removal.h"

namespace weft::scheduler {

class WorkerEvents {
 public:
  struct Parts {
    TaskChoice& choice;
    Listings& listings;
    ClassMembers& members;
    Leases& leases;
    WorkerRemoval& removal;
  };
  WorkerEvents(SchedulerTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // already_exists for a key that is connected: remove the first one.
  [[nodiscard]] Result<> add(const Worker& worker, Instant now);
  void remove(const PublicKey& worker, Departure departure, Instant now);
  void set_slots(const PublicKey& worker, std::uint32_t slots);
  void set_standing(const PublicKey& worker, Standing standing);
  void set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share);
  void heard(const PublicKey& worker, Instant now);
  // The tasks that are the worker's again; the rest comes as one Cancel.
  std::vector<protocol::HeldTask> resume(const PublicKey& worker,
                                         std::span<const protocol::HeldTask> held, Instant now);

 private:
  // Whether the worker may go on with a task of which it has no lease any more.
  [[nodiscard]] bool is_wanted_again(const WorkerState& worker, const protocol::HeldTask& held,
                                     Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
