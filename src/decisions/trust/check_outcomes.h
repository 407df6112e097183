// Handles the outcome of a check of a result: the result is accepted, held, refused, or checked by
// other workers.
//
// Not safe to share between threads.
#pragma once

#include "common/base/ids.h"
#include "decisions/trust/case_lifetimes.h"
#include "decisions/trust/confirmations.h"
#include "decisions/trust/device_fault.h"
#include "decisions/trust/held_results.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"
#include "decisions/trust/result_checks.h"

namespace weft::trust {

class CheckOutcomes {
 public:
  struct Parts {
    HeldResults& held;
    Confirmations& confirmations;
    DeviceFault& fault;
    CaseLifetimes& lifetimes;
    ResultChecks& checks;
  };
  CheckOutcomes(RefereeTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Handles the outcome of an audit of the task's result.
  void audited(const TaskId& task, const PublicKey& auditor, AuditOutcome outcome, Auditor who,
               const Finding& finding, RefereePass& pass);
  // Call it if the worker of the audited result does not send the data that the check needs.
  void unanswered(const TaskId& task, RefereePass& pass);

 private:
  void agrees(const TaskId& task, const PublicKey& auditor, Level by, RefereePass& pass);
  void differs(const TaskId& task, const PublicKey& auditor, Level by, RefereePass& pass);
  void failed(const TaskId& task, RefereePass& pass);
  // Rejects a result that a root found wrong.
  void reject(const TaskId& task, RefereePass& pass);
  // Rejects only the suspect's result, because a root found one of its steps wrong; other results
  // with the same root may be right.
  void reject_steps(const TaskId& task, RefereePass& pass);
  // Prepares the case for another result of the task.
  void begin_again(const TaskId& task);
  // Accepts or holds a result in which a root, or workers whose word decides together, found no
  // fault.
  void pass_on(const TaskId& task, RefereePass& pass);
  // Notes the results that a root refuted and those that it confirmed, by a part in which they
  // differ.
  void note_root_agrees(const TaskId& task, RefereePass& pass);

  RefereeTables& tables_;
  const Parts parts_;
};

}  // namespace weft::trust
