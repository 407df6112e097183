// The sessions of workers, and the terms that the scheduler has for each worker: its level, its
// suspension, and the number of leases that it may hold.
//
// Threading: one thread. Bounds: those of ConnectedWorkers.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class WorkerSessions {
 public:
  WorkerSessions(CoreTables& tables, JobWatch& watch, CheckLeases& checks)
      : tables_(tables), watch_(watch), checks_(checks) {}
  WorkerSessions(const WorkerSessions&) = delete;

  // Connects a worker. A second connection of a key replaces its first one.
  void arrive(Arrival arrival, Moment now);
  // `held` are leases that the worker was given; the session has checked their proofs
  // (lease_proof.h).
  void resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now);
  void beat(SessionId session, Moment now);
  void slots(SessionId session, std::uint32_t slots, Moment now);
  // Call it when the connection has ended, on purpose (Bye) or not.
  void left(SessionId session, bool on_purpose, Moment now);
  // Forgets the connection; the scheduler has been told already.
  void disconnect(const PublicKey& key, Moment now);
  // The number of connected workers that announce the feature. Answered at once.
  void count(std::string_view feature, const Answer<std::size_t>& answer) const;

  // Updates the scheduler's terms for the worker, because its standing may have changed.
  void refresh(const PublicKey& worker, Moment now);
  // Call it when the worker's result for the task is decided.
  void decided(const TaskId& task, const PublicKey& worker, Moment now);

  // Ends the suspensions that are over.
  void end_suspensions(Moment now);
  // Call it when the operator has ended the worker's suspension.
  void pardoned(const PublicKey& worker);
  [[nodiscard]] std::optional<UnixMillis> next_suspension_end() const;

 private:
  CoreTables& tables_;
  JobWatch& watch_;
  CheckLeases& checks_;
  // The end of the suspension of each suspended worker that was connected.
  std::set<std::pair<UnixMillis, PublicKey>> suspensions_;
};

}  // namespace weft::jobs
