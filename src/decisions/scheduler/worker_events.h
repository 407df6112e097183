// Events of workers: they join, leave, pause, change their standing, and reconnect with tasks that
// they hold.
//
// Pure; not safe to share between threads. Events for workers that are not connected do nothing,
// unless a function says otherwise.
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

  // Fails with already_exists if a worker with this key is connected: that worker must be removed
  // first.
  [[nodiscard]] Result<> add(const Worker& worker, Instant now);
  void remove(const PublicKey& worker, Departure departure, Instant now);
  void set_slots(const PublicKey& worker, std::uint32_t slots);
  void set_standing(const PublicKey& worker, Standing standing);
  void set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share);
  void heard(const PublicKey& worker, Instant now);
  // Gives a worker that reconnects the leases of its held tasks back, if the tasks still need it.
  // Returns the tasks whose leases it has again. The other held tasks are cancelled with one
  // Cancel.
  std::vector<protocol::HeldTask> resume(const PublicKey& worker,
                                         std::span<const protocol::HeldTask> held, Instant now);

 private:
  // True if the worker may continue a task whose lease it no longer has.
  [[nodiscard]] bool is_wanted_again(const WorkerState& worker, const protocol::HeldTask& held,
                                     Instant now);

  SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
