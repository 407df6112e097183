// Workers as they come and go, and what the scheduler makes of each: its level, its suspension, how
// many leases it may hold.
//
// Threading: one thread. Bounds: ConnectedWorkers'.
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

  // A second connection of one key replaces the first.
  void arrive(Arrival arrival, Moment now);
  // `held` are leases that it was given (lease_proof.h): the session has looked.
  void resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now);
  void beat(SessionId session, Moment now);
  void slots(SessionId session, std::uint32_t slots, Moment now);
  // The connection ended, on purpose (Bye) or not.
  void left(SessionId session, bool on_purpose, Moment now);
  // Forgets the connection; the scheduler has been told already.
  void disconnect(const PublicKey& key, Moment now);
  // How many connected workers announce the feature. Answered at once.
  void count(std::string_view feature, const Answer<std::size_t>& answer) const;

  // Its standing may have changed.
  void refresh(const PublicKey& worker, Moment now);
  // Its result for the task is decided.
  void decided(const TaskId& task, const PublicKey& worker, Moment now);

  // Suspensions that are over.
  void end_suspensions(Moment now);
  // Its suspension is ended by the operator.
  void pardoned(const PublicKey& worker);
  [[nodiscard]] std::optional<UnixMillis> next_suspension_end() const;

 private:
  CoreTables& tables_;
  JobWatch& watch_;
  CheckLeases& checks_;
  // Workers that were here: until when.
  std::set<std::pair<UnixMillis, PublicKey>> suspensions_;
};

}  // namespace weft::jobs
