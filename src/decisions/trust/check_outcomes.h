// Draws the consequences of a finished check: the result is accepted, held or refused, or it is
// checked by others.
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

  // Takes the outcome of an audit. The task has a case, and its result is being audited.
  void audited(const TaskId& task, const PublicKey& auditor, AuditOutcome outcome, Auditor who,
               const Finding& finding, RefereePass& pass);
  // Call it when the worker of the audited result does not hand over the states that its check
  // needs.
  void unanswered(const TaskId& task, RefereePass& pass);

 private:
  void agrees(const TaskId& task, const PublicKey& auditor, Level by, RefereePass& pass);
  void differs(const TaskId& task, const PublicKey& auditor, Level by, RefereePass& pass);
  void failed(const TaskId& task, RefereePass& pass);
  // Call it when a root found the result wrong.
  void reject(const TaskId& task, RefereePass& pass);
  // Call it when a root found a step of the suspect's wrong, which says nothing of other workers'
  // results with the same root.
  void reject_steps(const TaskId& task, RefereePass& pass);
  // Resets the case for the next result of the task.
  void begin_again(const TaskId& task);
  // Call it when a root, or workers that decide together, found nothing wrong in the result.
  void pass_on(const TaskId& task, RefereePass& pass);
  // Call it when a root agrees with the result, in a part in which the task's results differ.
  void note_root_agrees(const TaskId& task, RefereePass& pass);

  RefereeTables& tables_;
  const Parts parts_;
};

}  // namespace weft::trust
