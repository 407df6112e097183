// Carries out the decisions of the votes on a task (trust.h): the task is accepted, held back,
// checked, or computed once more.
//
// Not safe to share between threads.
#pragma once

#include <vector>

#include "decisions/trust/case_lifetimes.h"
#include "decisions/trust/confirmations.h"
#include "decisions/trust/convictions.h"
#include "decisions/trust/device_fault.h"
#include "decisions/trust/held_results.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"
#include "decisions/trust/result_checks.h"

namespace weft::trust {

class VoteDecisions {
 public:
  struct Parts {
    HeldResults& held;
    Convictions& convictions;
    Confirmations& confirmations;
    DeviceFault& fault;
    CaseLifetimes& lifetimes;
    ResultChecks& checks;
  };
  VoteDecisions(RefereeTables& tables, const Parts& parts) : tables_(tables), parts_(parts) {}

  // Handles decisions until none is left, and returns all rulings.
  [[nodiscard]] std::vector<Ruling> run(RefereePass pass);

 private:
  // Handles a result that wins a held ballot, or that won the vote without workers that decide.
  void on(const Provisional& provisional, RefereePass& pass);
  void on(const NeedReplicas& need, RefereePass& pass);
  void on(const Accepted& accepted, RefereePass& pass);
  void on(const Refused& refused, RefereePass& pass);
  // Handles a result of a task that was leased to a worker alone.
  void on_alone(const Provisional& provisional, TaskCase& open, RefereePass& pass);
  // The probability that the result of a task that was leased to a worker alone is audited.
  [[nodiscard]] double audit_rate(const TaskId& task, const TaskCase& open,
                                  const RefereePass& pass) const;
  void add_trap(const Accepted& accepted, const std::vector<PublicKey>& group, bool by_root);
  void close(const Accepted& accepted, bool by_root, RefereePass& pass);

  RefereeTables& tables_;
  const Parts parts_;
};

}  // namespace weft::trust
