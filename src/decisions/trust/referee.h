// Decides how each task is checked and what follows from the checks: votes (trust.h), reputation,
// stakes, audits, traps. A facade: it hands events to its parts, each of which has one idea and a
// header of its own (README.md).
//
// Pure: events and time in, rulings out; the same events and the same secret give the same rulings.
// The wiring moves the money, runs the audits and traps as extra leases, and reports how they
// ended.
//
//   leased(task, worker)    the first lease on a task of a job that wants at least two replicas. A
//                           wallet that is established and has the stake runs the task alone; for
//                           any other wallet the job's quorum is wanted at once.
//   a result that was       the task gets a second replica (at replica_rate), or the result is
//   computed alone          audited (at the audit rate), or it is held back. A result that is held
//                           back is accepted once hold_max later results of its worker are held,
//                           or if its job waits for nothing else.
//   results of newcomers    the agreement of newcomers decides nothing (levels.h). At least a part
//                           of every result is audited by a root, by an invited worker or by two
//                           established workers.
//   results on which        two workers of different owners decide. If there is a root, it checks a
//   established workers     part first, and checks again in a hundredth of the audits that
//   agree                   established workers did.
//   a check that differs    a root decides which result is right. Without a root, trusted workers
//                           decide, which convicts no worker. A root's mismatch rejects a result,
//                           and every result of its worker that was held back is computed again.
//                           Mismatches in jobs of two clients, each confirmed by a trusted worker
//                           of the same vendor, convict: the stake is slashed and reputation ends.
//
// What a worker can see (a lease) never depends on a draw about its own result. After a restart,
// draws are repeated and give the same numbers, and audits and polls that were under way are wanted
// again.
//
// Not safe to share between threads. Unknown jobs and tasks are ignored unless a function says
// otherwise.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/trust/case_lifetimes.h"
#include "decisions/trust/check_outcomes.h"
#include "decisions/trust/confirmations.h"
#include "decisions/trust/convictions.h"
#include "decisions/trust/device_fault.h"
#include "decisions/trust/draw.h"
#include "decisions/trust/held_results.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_settings.h"
#include "decisions/trust/referee_tables.h"
#include "decisions/trust/result_checks.h"
#include "decisions/trust/rulings.h"
#include "decisions/trust/vote_decisions.h"

namespace weft::trust {

class Referee {
 public:
  explicit Referee(RefereeSettings settings = {}, const Secret& secret = {})
      : tables_(settings, secret) {}

  // Adds or removes a job, with the same rules as Trust::add_job() and Trust::remove_job().
  void add_job(const JobId& job, JobTerms terms, std::uint32_t tasks);
  void remove_job(const JobId& job) { lifetimes_.remove_job(job); }
  // Sets the pay for one replica of the job's tasks once it is known. The pay determines the weight
  // of the job's results as evidence.
  void set_value(const JobId& job, MicroCredits value);
  // Restores a job that was added and whose stored votes were restored (votes()). `stake` returns
  // the stake of a wallet. `faults` are the latest bytes of take_changed_faults(), empty if it gave
  // none. Fails with data_loss if `faults` cannot be read.
  using StakeOf = std::function<MicroCredits(const PublicKey&)>;
  [[nodiscard]] Result<std::vector<Ruling>> restored(const JobId& job, MicroCredits value,
                                                     const StakeOf& stake, ByteSpan faults,
                                                     UnixMillis now);

  // Returns the records of wrong results that changed, to be stored.
  [[nodiscard]] std::vector<DeviceFault::Changed> take_changed_faults() {
    return fault_.take_changed();
  }

  // Call it when the first lease on a task goes to `worker`. `value` is the pay for one replica, 0
  // if it is not known yet.
  [[nodiscard]] std::vector<Ruling> leased(const TaskId& task, const PublicKey& worker,
                                           MicroCredits value, MicroCredits stake, UnixMillis now,
                                           StepRoots roots = StepRoots::not_asked);
  // Call it when the lease of `worker` on the task has ended without a result.
  void lost(const TaskId& task, const PublicKey& worker) { lifetimes_.lose(task, worker); }
  [[nodiscard]] std::vector<Ruling> add_result(const Replica& replica, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> add_receipt(const PublicKey& worker,
                                                std::span<const Claim> claims, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> give_up(const TaskId& task, UnixMillis now);

  // Takes the outcome of an audit. Ignored if no audit of the task is wanted.
  [[nodiscard]] std::vector<Ruling> audited(const TaskId& task, const PublicKey& auditor,
                                            AuditOutcome outcome, UnixMillis now,
                                            Auditor who = Auditor::worker,
                                            const Finding& finding = {});
  // Call it when the worker of the audited result does not hand over the states that its check
  // needs. The result then counts no more, as if its lease had been lost: no standing changes, and
  // another worker is asked. Ignored if the result is no longer audited.
  [[nodiscard]] std::vector<Ruling> unanswered(const TaskId& task, const PublicKey& suspect,
                                               UnixMillis now);
  // Takes the outcome of `worker` for the part that a PollWanted names; AuditOutcome::failed if the
  // worker did not compute the part.
  [[nodiscard]] std::vector<Ruling> polled(const TaskId& task, const PublicKey& suspect,
                                           const PublicKey& worker, AuditOutcome outcome,
                                           UnixMillis now);
  [[nodiscard]] bool audit_wanted(const TaskId& task) const;

  // Returns the trap that is leased to `worker` together with `task`; nothing if the draw gives
  // none.
  [[nodiscard]] std::optional<Trap> trap_for(const TaskId& task, const PublicKey& worker,
                                             UnixMillis now);
  [[nodiscard]] std::vector<Ruling> trap_answered(const Trap& trap, const PublicKey& worker,
                                                  bool right, UnixMillis now);
  // Convicts the worker because of evidence other than a task of a job. `penalty` is the part of
  // its stake that it may lose.
  [[nodiscard]] std::vector<Ruling> convicted(const TaskId& what, const PublicKey& worker,
                                              MicroCredits penalty, MicroCredits value,
                                              std::string reason, UnixMillis now);

  // The worker's level of trust, see Standing::level().
  [[nodiscard]] Level level(const PublicKey& worker, UnixMillis now) const {
    return tables_.standing.level(worker, now);
  }
  // The reputation of each wallet; stakes() has the locked stakes.
  [[nodiscard]] const ReputationBook& book() const { return tables_.standing.book(); }
  [[nodiscard]] const TaskStakes& stakes() const { return tables_.stakes; }
  [[nodiscard]] auto& standing(this auto& self) { return self.tables_.standing; }
  // The votes. The caller uses them directly for events that only forget or restore votes.
  [[nodiscard]] auto& votes(this auto& self) { return self.tables_.votes; }
  // The traps. A trap outlives the job that it comes from, as long as the data of its task can be
  // leased.
  [[nodiscard]] TrapPool& traps() { return tables_.traps; }
  [[nodiscard]] Convictions& convictions() { return convictions_; }

 private:
  RefereeTables tables_;
  HeldResults held_{tables_};
  Convictions convictions_{tables_, held_};
  Confirmations confirmations_{tables_};
  DeviceFault fault_{tables_, convictions_};
  ResultChecks checks_{tables_, held_};
  CaseLifetimes lifetimes_{tables_, held_, fault_};
  CheckOutcomes outcomes_{tables_,
                          {.held = held_,
                           .confirmations = confirmations_,
                           .fault = fault_,
                           .lifetimes = lifetimes_,
                           .checks = checks_}};
  VoteDecisions decisions_{tables_,
                           {.held = held_,
                            .convictions = convictions_,
                            .confirmations = confirmations_,
                            .fault = fault_,
                            .lifetimes = lifetimes_,
                            .checks = checks_}};
};

}  // namespace weft::trust
