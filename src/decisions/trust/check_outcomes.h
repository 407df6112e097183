// What follows from a check of a result that is over: it is accepted or held, refused, or checked
// by others.
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

  // The task's result is being audited.
  void audited(const TaskId& task, const PublicKey& auditor, AuditOutcome outcome, Auditor who,
               const Finding& finding, RefereePass& pass);
  // The worker of the audited result does not hand over what its check needs.
  void unanswered(const TaskId& task, RefereePass& pass);

 private:
  void agrees(const TaskId& task, const PublicKey& auditor, Level by, RefereePass& pass);
  void differs(const TaskId& task, const PublicKey& auditor, Level by, RefereePass& pass);
  void failed(const TaskId& task, RefereePass& pass);
  // A root found the result wrong.
  void reject(const TaskId& task, RefereePass& pass);
  // A root found a step of the suspect's wrong: this says nothing of others with the same root.
  void reject_steps(const TaskId& task, RefereePass& pass);
  // What comes next is another result.
  void begin_again(const TaskId& task);
  // Nothing wrong was found, by a root or by workers whose word decides together.
  void pass_on(const TaskId& task, RefereePass& pass);
  // A root computed a part in which the results differ.
  void note_root_agrees(const TaskId& task, RefereePass& pass);

  RefereeTables& tables_;
  const Parts parts_;
};

}  // namespace weft::trust
