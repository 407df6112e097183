// Decides how each task is checked, and what follows from the checks: votes (trust.h), reputation, stakes, audits, traps.
//
// Pure: events and time in, rulings out; the same events and the same secret give the same rulings. The wiring moves the
// money, runs the audits and traps as extra leases, and says how they ended.
//
//   leased(task, worker)     the first lease on a task of a job that wants at least two replicas. A wallet that is established
//                            and has the stake does it alone; for any other the job's quorum is wanted at once.
//   Counted alone            replica_rate: a second replica.  audit rate: AuditWanted.  Otherwise the result is held back until
//                            hold_max later ones of its worker are, or its job waits for nothing else: then it is Accepted.
//   a check that differs     a jury: replicas until one answer leads by jury_lead(). Who loses is convicted.
//   Convicted                the stake is slashed, reputation ends, and all that was held back of the worker gets a second
//                            replica.
//
// What a worker can see (a lease) never depends on a draw about its own result. Restarts: draws are made again and come out
// the same; audits that were under way are wanted again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "service/trust/draw.h"
#include "service/trust/replication_policy.h"
#include "service/trust/reputation.h"
#include "service/trust/stake.h"
#include "service/trust/traps.h"
#include "service/trust/trust.h"

namespace weft::trust {

struct RefereeSettings {
  ReputationSettings reputation;
  CheckSettings checks;
  std::size_t hold_max = 100;  // Results held back for each worker.
  // Votes that an answer of wallets without reputation must lead by. 0: the job's own quorum decides, as its client chose.
  std::uint32_t newcomer_lead = 0;
  std::uint32_t lead_min = 2;  // Enough where no further worker is there to ask; less of a lead convicts nobody.
};

struct JobTerms {
  std::uint32_t replicas = 1;
  double audit = 0;         // Share of results that is audited at least.
  std::uint32_t parts = 1;  // Into how many a task's run can be cut: the workgroups of the smallest; 1 where it cannot be.
  Agree agree = {};
};

// Compute part `part` of `parts` (audit.h) of the task again, on another worker than `suspect`: audited().
struct AuditWanted {
  TaskId task;
  PublicKey suspect;
  std::uint32_t attempt = 0;
  Hash root;
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
};
// `worker` was wrong: `penalty` of its stake is to be slashed (as much of it as there is).
struct Convicted {
  TaskId task;
  PublicKey worker;
  MicroCredits penalty = 0;
  MicroCredits value = 0;
  std::string reason;
};
using Ruling = std::variant<Counted, Accepted, Refused, NeedReplicas, JobFailed, AuditWanted, Convicted>;

enum class AuditOutcome : std::uint8_t {
  agrees,
  differs,
  failed,  // Nobody could be found to do it, or the worker did not open its commitment.
};

class Referee {
 public:
  explicit Referee(RefereeSettings settings = {}, const Secret& secret = {}) : settings_(settings), secret_(secret), book_(settings.reputation) {}

  // As Trust has them.
  void add_job(const JobId& job, JobTerms terms, std::uint32_t tasks);
  void remove_job(const JobId& job);
  void restore_accepted(const TaskId& task) { trust_.restore_accepted(task); }
  void restore_counted(const Replica& replica) { trust_.restore_counted(replica); }
  // `stake`: what a wallet has staked.
  using StakeOf = std::function<MicroCredits(const PublicKey&)>;
  [[nodiscard]] std::vector<Ruling> restored(const JobId& job, MicroCredits value, const StakeOf& stake, UnixMillis now);

  // The first lease on a task goes to `worker`. `value`: what one replica is paid, 0 where that is not known yet.
  [[nodiscard]] std::vector<Ruling> leased(const TaskId& task, const PublicKey& worker, MicroCredits value, MicroCredits stake, UnixMillis now);
  // A lease ended without a result.
  void lost(const TaskId& task, const PublicKey& worker);
  // It is not connected any more: claims of its that met no result are forgotten. What counted stays.
  void gone(const PublicKey& worker) { trust_.forget_claims(worker); }
  // The receipt of it is not there any more.
  void forget_claim(const PublicKey& worker, const TaskId& task, std::uint32_t attempt) { trust_.forget_claim(worker, task, attempt); }
  [[nodiscard]] std::vector<Ruling> add_result(const Replica& replica, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> add_receipt(const PublicKey& worker, std::span<const Claim> claims, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> give_up(const TaskId& task, UnixMillis now);

  // An audit that is not wanted (any more) is nothing.
  [[nodiscard]] std::vector<Ruling> audited(const TaskId& task, const PublicKey& auditor, AuditOutcome outcome, UnixMillis now);
  [[nodiscard]] bool audit_wanted(const TaskId& task) const;

  // Whether `worker`, that is being leased `task`, is given a trap as well, and which.
  [[nodiscard]] std::optional<Trap> trap_for(const TaskId& task, const PublicKey& worker, UnixMillis now);
  [[nodiscard]] std::vector<Ruling> trap_answered(const Trap& trap, const PublicKey& worker, bool right, UnixMillis now);
  void add_trap(const Trap& trap) { traps_.add(trap, {}); }
  // Traps outlive their jobs, for as long as their data can be leased.
  void remove_traps(const JobId& job) { traps_.remove_job(job); }

  // Established, not suspended, and `stake` reaches for a task of this value: a first lease would be its alone.
  [[nodiscard]] bool works_alone(const PublicKey& worker, const JobId& job, MicroCredits value, MicroCredits stake, UnixMillis now) const;
  [[nodiscard]] bool established(const PublicKey& worker, UnixMillis now) const { return book_.established(worker, now); }

  // What was confirmed or refuted elsewhere than in a job's tasks. `weight` as ReputationBook::confirm has it.
  void vouch(const PublicKey& worker, double weight, UnixMillis now) { book_.confirm(worker, weight, now); }
  void doubt(const PublicKey& worker, UnixMillis now) { book_.doubt(worker, now); }
  // Of what one vote of a wallet without reputation is worth.
  [[nodiscard]] double newcomer_weight() const { return 1.0 / (lead() - 1); }
  // `penalty` is what of its stake it may lose.
  [[nodiscard]] std::vector<Ruling> convicted(const TaskId& what, const PublicKey& worker, MicroCredits penalty, MicroCredits value,
                                              std::string reason, UnixMillis now);

  [[nodiscard]] const Trust& votes() const { return trust_; }
  [[nodiscard]] const StakesAtRisk& stakes() const { return stakes_; }
  [[nodiscard]] const ReputationBook& book() const { return book_; }
  [[nodiscard]] const Secret& secret() const { return secret_; }
  [[nodiscard]] std::vector<PublicKey> take_moved() { return book_.take_moved(); }
  void restore_record(const PublicKey& worker, const Record& record) { book_.restore(worker, record); }
  void restore_reputation(const PublicKey& worker, Reputation reputation) { trust_.restore_reputation(worker, reputation); }

 private:
  enum class Stage : std::uint8_t { alone, newcomer, replicated, auditing, held, disputed };
  struct Case {
    Stage stage = Stage::alone;
    PublicKey worker;  // Who had the first lease.
    MicroCredits value = 0;
    CheckRates rates;
    Hash root;  // Of its result, once there.
    std::optional<PublicKey> accuser;
  };
  struct Job {
    JobTerms terms;
    std::uint32_t tasks = 0;
    std::uint32_t held = 0;
    MicroCredits value = 0;
    std::map<std::uint32_t, Case> cases;  // By index.
  };
  struct Pass;  // One event's way through: what is still to be looked at, and what came out.

  [[nodiscard]] CheckRates rates(const PublicKey& worker, const JobTerms& terms, UnixMillis now) const;
  Case* case_of(const TaskId& task);
  void begin(const TaskId& task, const PublicKey& worker, MicroCredits value, MicroCredits stake, Pass& pass);
  [[nodiscard]] std::vector<Ruling> run(std::vector<Decision> decisions, UnixMillis now);
  void run(Pass& pass);
  void on(const Provisional& provisional, Pass& pass);
  void on(const NeedReplicas& need, Pass& pass);
  void on(const Accepted& accepted, Pass& pass);
  void on(const Refused& refused, Pass& pass);
  void ask(const TaskId& task, Stage stage, const Ballot& ballot, Pass& pass);
  void dispute(const TaskId& task, Pass& pass);
  void hold(const TaskId& task, Pass& pass);
  void release(const TaskId& task, Pass& pass);
  void release_if_last(const JobId& job, Pass& pass);
  void unhold(const TaskId& task, const Case& held);
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits value, std::string reason, Pass& pass);
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty, MicroCredits value, std::string reason, Pass& pass);
  [[nodiscard]] std::uint32_t lead() const { return jury_lead(settings_.checks.error, settings_.checks.collusion); }

  const RefereeSettings settings_;
  const Secret secret_;
  Trust trust_;
  ReputationBook book_;
  StakesAtRisk stakes_;
  TrapPool traps_;
  std::map<JobId, Job> jobs_;
  std::unordered_map<PublicKey, std::deque<TaskId>> holds_;  // Oldest first; looked up only.
};

}  // namespace weft::trust
