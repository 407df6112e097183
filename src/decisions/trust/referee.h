// Decides how each task is checked, and what follows from the checks: votes (trust.h), reputation,
// stakes, audits, traps. A facade: it hands events to its parts, each of which has one idea and a
// header of its own (README.md).
//
// Pure: events and time in, rulings out; the same events and the same secret give the same rulings.
// The wiring moves the money, runs the audits and traps as extra leases, and says how they ended.
//
//   leased(task, worker)     the first lease on a task of a job that wants at least two replicas. A
//                            wallet that is established and has the stake does it alone; for any
//                            other the job's quorum is wanted at once.
//   Counted alone            replica_rate: a second replica.  audit rate: AuditWanted.  Otherwise
//                            the result is held back until hold_max later ones of its worker are,
//                            or its job waits for nothing else: then it is Accepted.
//   Counted, of newcomers    their agreement decides nothing (levels.h): AuditWanted, at least one
//                            part of every result, by a root, an invited worker or two established
//                            ones.
//   Agreement of established two of different owners decide; where there is a root, it checks a
//                            part first, and again in a hundredth of the audits that established
//                            workers did.
//   A check that differs     a root decides which result is right; without one, trusted workers do,
//                            which convicts none. A root's mismatch rejects a result, and
//                            everything of its worker that was held back is computed again.
//                            Mismatches in jobs of two clients, each confirmed by a trusted worker
//                            of the same vendor, convict: the stake is slashed and reputation ends.
//
// What a worker can see (a lease) never depends on a draw about its own result. Restarts: draws are
// made again and come out the same; audits and polls that were under way are wanted again.
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

  // As Trust has them.
  void add_job(const JobId& job, JobTerms terms, std::uint32_t tasks);
  void remove_job(const JobId& job) { lifetimes_.remove_job(job); }
  // What one replica of its tasks is paid, once that is known: what its results weigh as evidence.
  void set_value(const JobId& job, MicroCredits value);
  // `stake`: what a wallet has staked; `faults`: as take_changed_faults() gave it last, empty where
  // it gave none. The job was added, and what was stored of it restored (votes()). data_loss for
  // other faults.
  using StakeOf = std::function<MicroCredits(const PublicKey&)>;
  [[nodiscard]] Result<std::vector<Ruling>> restored(const JobId& job, MicroCredits value,
                                                     const StakeOf& stake, ByteSpan faults,
                                                     UnixMillis now);

  // Whose fault wrong results of jobs are, as far as is known, to be stored.
  [[nodiscard]] std::vector<DeviceFault::Changed> take_changed_faults() {
    return fault_.take_changed();
  }

  // The first lease on a task goes to `worker`. `value`: what one replica is paid, 0 where that is
  // not known yet.
  [[nodiscard]] std::vector<Ruling> leased(const TaskId& task, const PublicKey& worker,
                                           MicroCredits value, MicroCredits stake, UnixMillis now);
  // A lease ended without a result.
  void lost(const TaskId& task, const PublicKey& worker) { lifetimes_.lose(task, worker); }
  [[nodiscard]] std::vector<Ruling> add_result(const Replica& replica, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> add_receipt(const PublicKey& worker,
                                                std::span<const Claim> claims, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> give_up(const TaskId& task, UnixMillis now);

  // An audit that is not wanted (any more) is nothing.
  [[nodiscard]] std::vector<Ruling> audited(const TaskId& task, const PublicKey& auditor,
                                            AuditOutcome outcome, UnixMillis now,
                                            Auditor who = Auditor::worker,
                                            const Finding& finding = {});
  // What a worker computed of the part that PollWanted names; failed if it did not.
  [[nodiscard]] std::vector<Ruling> polled(const TaskId& task, const PublicKey& suspect,
                                           const PublicKey& worker, AuditOutcome outcome,
                                           UnixMillis now);
  [[nodiscard]] bool audit_wanted(const TaskId& task) const;

  // Whether `worker`, that is being leased `task`, is given a trap as well, and which.
  [[nodiscard]] std::optional<Trap> trap_for(const TaskId& task, const PublicKey& worker,
                                             UnixMillis now);
  [[nodiscard]] std::vector<Ruling> trap_answered(const Trap& trap, const PublicKey& worker,
                                                  bool right, UnixMillis now);
  // Evidence other than a job's task convicts it. `penalty` is what of its stake it may lose.
  [[nodiscard]] std::vector<Ruling> convicted(const TaskId& what, const PublicKey& worker,
                                              MicroCredits penalty, MicroCredits value,
                                              std::string reason, UnixMillis now);

  // Standing::level().
  [[nodiscard]] Level level(const PublicKey& worker, UnixMillis now) const {
    return tables_.standing.level(worker, now);
  }
  // How far each wallet is believed, and what of its stake is locked.
  [[nodiscard]] const ReputationBook& book() const { return tables_.standing.book(); }
  [[nodiscard]] const TaskStakes& stakes() const { return tables_.stakes; }
  [[nodiscard]] auto& standing(this auto& self) { return self.tables_.standing; }
  // What is forgotten and restored of the votes is told them alone.
  [[nodiscard]] auto& votes(this auto& self) { return self.tables_.votes; }
  // Traps outlive their jobs, for as long as their data can be leased.
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
