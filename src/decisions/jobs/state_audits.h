// Handles the answers of workers that a check of steps asks for states: the check continues, or the
// whole task is checked instead. If a worker does not answer, its lease counts as lost.
//
// A worker that does not answer is not paid, and no standing changes. The task goes to another
// worker, and a newcomer's task to a trusted one. A worker cannot know whether a wrong group was
// drawn, so that it would have to be silent for right ones too.
//
// Threading: one thread.
#pragma once

#include <optional>
#include <string_view>

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/state_requests.h"

namespace weft::jobs {

class StateAudits {
 public:
  StateAudits(CoreTables& tables, AuditLeases& audits, StateRequests& requests, Rulings& rulings)
      : tables_(tables), audits_(audits), requests_(requests), rulings_(rulings) {}
  StateAudits(const StateAudits&) = delete;

  // Handles the suspect's answer. If the suspect lacks one of the states, the whole task is
  // checked.
  void sent(const SentStates& answer, Moment now);
  // A worker has connected. It is asked again for states that it was asked for in an earlier
  // session.
  void worker_came(const PublicKey& worker);
  // Ends the checks whose suspects do not answer in time, and begins those that waited for room.
  void expire(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;

  // Checks the whole task, because the groups of steps were not computed.
  void check_whole(Audit& audit, Moment now);
  // The lease of the suspect counts as lost. The audit ends.
  void lose(const Audit& audit, std::string_view why, Moment now);

 private:
  CoreTables& tables_;
  AuditLeases& audits_;
  StateRequests& requests_;
  Rulings& rulings_;
};

}  // namespace weft::jobs
