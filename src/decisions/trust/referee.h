// Decides how each task is checked, and what follows from the checks: votes (trust.h), reputation,
// stakes, audits, traps.
//
// Pure: events and time in, rulings out; the same events and the same secret give the same rulings.
// The wiring moves the money, runs the audits and traps as extra leases, and says how they ended.
//
//   leased(task, worker)     the first lease on a task of a job that wants at least two replicas. A
//   wallet that is established
//                            and has the stake does it alone; for any other the job's quorum is
//                            wanted at once.
//   Counted alone            replica_rate: a second replica.  audit rate: AuditWanted.  Otherwise
//   the result is held back until
//                            hold_max later ones of its worker are, or its job waits for nothing
//                            else: then it is Accepted.
//   Counted, of newcomers    their agreement decides nothing (levels.h): AuditWanted, at least one
//   part of every result, by a root, an invited worker or two established ones.
//   Agreement of established two of different owners decide; where there is a root, it checks a
//   part first, and again in a hundredth of the audits that established workers did. a check that
//   differs     a root decides which result is right; without one, trusted workers do, which
//   convicts none. A root's mismatch rejects a result, and everything of its worker that was held
//   back is computed again. Mismatches in jobs of two clients, each confirmed by a trusted worker
//   of the same vendor, convict: the stake is slashed and reputation ends.
//
// What a worker can see (a lease) never depends on a draw about its own result. Restarts: draws are
// made again and come out the same; audits that were under way are wanted again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "decisions/trust/audit.h"
#include "decisions/trust/draw.h"
#include "decisions/trust/evidence.h"
#include "decisions/trust/levels.h"
#include "decisions/trust/replication_policy.h"
#include "decisions/trust/reputation.h"
#include "decisions/trust/stake.h"
#include "decisions/trust/traps.h"
#include "decisions/trust/trust.h"

namespace weft::trust {

struct RefereeSettings {
  ReputationSettings reputation;
  CheckSettings checks;
  std::size_t hold_max = 100;  // Results held back for each worker.
  std::uint32_t lead_min =
      2;  // Enough where no further worker is there to ask; less of a lead convicts no worker.
  Defences defences;
  // A task of this price or more is one confirmation, a cheaper one less in proportion.
  MicroCredits value_full = 1000;
  // Leases of a newcomer at a time, at most: 1, 2, 4 ... as its samples pass.
  std::uint32_t newcomer_leases_max = 64;
  // So many results of a worker are checked whole after a root has found one wrong.
  std::uint32_t whole_checks = 32;
  // What one wrong result costs that a root finds, in prices of its task over the chance that a
  // root finds a single wrong part. Three leave two to the attacker's loss after the price that it
  // saved.
  double risk = 3;
};

struct JobTerms {
  std::uint32_t replicas = 1;
  double audit = 0;         // Share of results that is audited at least.
  std::uint32_t parts = 1;  // Into how many a task's run can be cut: the workgroups of the
                            // smallest; 1 where it cannot be.
  Agree agree = {};
  PublicKey client = {};
  // Its client asked for no more than agreement ("trust": "anyone"): newcomers decide, and nothing
  // of it counts for or against a wallet.
  bool anyone = false;
  bool checked = false;  // The coordinator has checked each result itself before it is counted.
  bool evidence = true;  // Whether its results may count towards standing.
  // How many workers could be given its tasks; empty: enough.
  std::function<std::uint32_t()> eligible = {};

  // Whose results agree is all that is asked.
  [[nodiscard]] bool by_heads() const { return anyone || checked; }
};

// Compute part `part` of `parts` (audit.h) of the task again, on another worker than `suspect`:
// audited().
struct AuditWanted {
  TaskId task;
  PublicKey suspect;
  std::uint32_t attempt = 0;
  Hash root;
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  // Whether trusted workers alone may do it: of a newcomer's result.
  bool trusted_only = false;
  // The results differ, and only a root can say which is right.
  bool dispute = false;
  std::vector<Hash> rivals = {};  // The other results of the task.
  // How many parts a root computes, `part` the first of them.
  std::uint32_t samples = 1;
  std::vector<PublicKey> except = {};  // Workers that have checked it already.
  // Only a root does it. Where none can, the audit has failed, and what was decided stands.
  bool by_root = false;
};
// `worker` was wrong: `penalty` of its stake is to be slashed (as much of it as there is).
struct Convicted {
  TaskId task;
  PublicKey worker;
  MicroCredits penalty = 0;
  MicroCredits value = 0;
  std::string reason;
};
// A root found `suspect` wrong in `part` of an accepted task: have `count` established workers of
// its vendor compute that part, each of an owner of its own that is not in `except`, and compare it
// with the accepted result: polled(), once for each of them; a worker that is missing has failed.
struct PollWanted {
  TaskId task;
  PublicKey suspect;
  Hash root;  // Its result's.
  Part part;
  std::string vendor;
  std::uint32_t count = 0;
  std::vector<PublicKey> except = {};  // Owners.
};
// A root found a result of `worker` wrong on two devices, in a job of `client`'s (an owner). Whose
// fault it was is not known yet: what it was paid for is to be computed again as if it had been
// convicted (suspects.h), and costs it nothing.
struct Suspected {
  TaskId task;
  PublicKey worker;
  PublicKey client;
};
using Ruling = std::variant<Counted, Accepted, Refused, NeedReplicas, JobFailed, AuditWanted,
                            Convicted, PollWanted, Suspected>;

enum class AuditOutcome : std::uint8_t {
  agrees,
  differs,
  failed,  // No worker was found to do it, or the worker did not open its commitment.
};

// The worker that did an audit.
enum class Auditor : std::uint8_t {
  worker,       // One of the network: its level says what that is worth.
  coordinator,  // The coordinator's verifier: a root.
};

// What a root saw besides the outcome.
enum class Devices : std::uint8_t {
  one,      // It has one, or only one of them can run the part.
  two,      // Two devices with different drivers computed the same.
  divided,  // They did not: the part says nothing of the worker.
};
struct Finding {
  Devices devices = Devices::one;
  std::string vendor = {};        // The vendor of the device that decided.
  std::optional<Part> part = {};  // One in which the result that it was asked about is wrong.
  // Results that it refutes by confirming that one, each with a part in which it differs.
  std::vector<std::pair<Hash, Part>> rivals = {};
};

class Referee {
 public:
  explicit Referee(RefereeSettings settings = {}, const Secret& secret = {})
      : settings_(settings), secret_(secret), book_(settings.reputation) {}

  // Whether the coordinator has a root of its own at hand, its verifier; without it: no.
  void set_root_at_hand(std::function<bool()> at_hand) { root_at_hand_ = std::move(at_hand); }

  // --- Levels (levels.h).
  [[nodiscard]] Admissions& admissions() { return admissions_; }
  [[nodiscard]] const Admissions& admissions() const { return admissions_; }
  [[nodiscard]] Level level(const PublicKey& worker, UnixMillis now) const;
  // Whether the agreement of these workers decides: a root or an invited worker among them, or two
  // established ones of different owners.
  [[nodiscard]] bool decides(std::span<const PublicKey> workers, UnixMillis now) const;
  // How many leases a worker may hold whose results are not decided.
  [[nodiscard]] std::uint32_t leases_max(const PublicKey& worker, UnixMillis now) const;

  // The part of its next result that a root computes again, where the result can be cut so far.
  [[nodiscard]] double sample_share(const PublicKey& worker, UnixMillis now) const;

  // As Trust has them.
  void add_job(const JobId& job, JobTerms terms, std::uint32_t tasks);
  void remove_job(const JobId& job);
  // What one replica of its tasks is paid, once that is known: what its results weigh as evidence.
  void set_value(const JobId& job, MicroCredits value);
  void restore_accepted(const TaskId& task) { trust_.restore_accepted(task); }
  void restore_counted(const Replica& replica) { trust_.restore_counted(replica); }
  // `stake`: what a wallet has staked.
  using StakeOf = std::function<MicroCredits(const PublicKey&)>;
  [[nodiscard]] std::vector<Ruling> restored(const JobId& job, MicroCredits value,
                                             const StakeOf& stake, UnixMillis now);

  // The first lease on a task goes to `worker`. `value`: what one replica is paid, 0 where that is
  // not known yet.
  [[nodiscard]] std::vector<Ruling> leased(const TaskId& task, const PublicKey& worker,
                                           MicroCredits value, MicroCredits stake, UnixMillis now);
  // A lease ended without a result.
  void lost(const TaskId& task, const PublicKey& worker);
  // It is not connected any more: claims of its that met no result are forgotten. What counted
  // stays.
  void gone(const PublicKey& worker) { trust_.forget_claims(worker); }
  // The receipt of it is not there any more.
  void forget_claim(const PublicKey& worker, const TaskId& task, std::uint32_t attempt) {
    trust_.forget_claim(worker, task, attempt);
  }
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
  void add_trap(const Trap& trap) { traps_.add(trap, {}); }
  // Traps outlive their jobs, for as long as their data can be leased.
  void remove_traps(const JobId& job) { traps_.remove_job(job); }

  // Established, not suspended, and `stake` reaches for a task of this value: a first lease would
  // be its alone.
  [[nodiscard]] bool works_alone(const PublicKey& worker, const JobId& job, MicroCredits value,
                                 MicroCredits stake, UnixMillis now) const;
  [[nodiscard]] bool established(const PublicKey& worker, UnixMillis now) const {
    return book_.established(worker, now);
  }

  // A root found a result of it wrong recently: its next results are checked whole, and its pay is
  // held.
  [[nodiscard]] bool watched(const PublicKey& worker) const {
    return !trusts_heads() && suspicion_.contains(worker);
  }

  // What was confirmed or refuted elsewhere than in a job's tasks. `weight` as
  // ReputationBook::confirm has it.
  void vouch(const PublicKey& worker, double weight, UnixMillis now) {
    book_.confirm(worker, weight, now);
  }
  void doubt(const PublicKey& worker, UnixMillis now) { book_.doubt(worker, now); }
  // By the operator: what it was convicted for convicts it no more. False where it is not
  // suspended.
  bool pardon(const PublicKey& worker, UnixMillis now) {
    evidence_.forget_mismatches(worker);
    free_risks(worker);
    return book_.pardon(worker, now);
  }
  // `penalty` is what of its stake it may lose.
  [[nodiscard]] std::vector<Ruling> convicted(const TaskId& what, const PublicKey& worker,
                                              MicroCredits penalty, MicroCredits value,
                                              std::string reason, UnixMillis now);

  [[nodiscard]] const Trust& votes() const { return trust_; }
  [[nodiscard]] const StakesAtRisk& stakes() const { return stakes_; }
  [[nodiscard]] const ReputationBook& book() const { return book_; }
  [[nodiscard]] const Secret& secret() const { return secret_; }
  [[nodiscard]] std::vector<PublicKey> take_moved() { return book_.take_moved(); }
  [[nodiscard]] Evidence& evidence() { return evidence_; }  // To be stored and restored.
  void restore_record(const PublicKey& worker, const Record& record) {
    book_.restore(worker, record);
  }
  void restore_mismatch(const PublicKey& worker, const Evidence::Mismatch& mismatch);
  // What was found too long ago convicts no more, and its stake is free again.
  void forget_old_mismatches(UnixMillis now);
  void restore_reputation(const PublicKey& worker, Reputation reputation) {
    trust_.restore_reputation(worker, reputation);
  }

 private:
  enum class Stage : std::uint8_t { alone, newcomer, replicated, auditing, held, disputed };
  // A result that a root has found wrong, with what its worker may lose.
  struct Mismatch {
    PublicKey worker;
    MicroCredits penalty = 0;
    TaskId task = {};
    Hash root = {};
    Finding finding = {};  // Its part is this result's.
    bool counted = false;  // As one of those of several clients that convict.
    // Whether devices of two vendors or drivers say that it is wrong.
    bool seen_twice = false;
    // Established owners of the vendor that computed the part and agree with the root, less those
    // that do not.
    std::int32_t agreed = 0;
    std::set<PublicKey> asked = {};  // Owners.
    std::uint32_t waiting = 0;       // So many have not answered yet.
    bool missing = false;            // There were not as many workers as were wanted.
    bool polled = false;             // It has begun.
  };
  struct Case {
    Stage stage = Stage::alone;
    PublicKey worker;  // The worker that had the first lease.
    MicroCredits value = 0;
    CheckRates rates;
    Hash root;  // The result's root, once there.
    std::optional<PublicKey> accuser;
    // What is being audited is the result of this worker.
    PublicKey suspect = {};
    std::uint32_t audits = 0;              // So many were drawn.
    std::vector<Hash> rivals = {};         // Other results, when the latest was drawn.
    std::uint32_t part = 0;                // The latest of them,
    std::uint32_t samples = 1;             // and how many parts.
    std::vector<PublicKey> seconded = {};  // Established auditors that agreed.
    bool rootless = false;                 // There was no root to decide a dispute.
    bool root_agrees = false;              // A root has confirmed a part of `root`.
    bool believed = false;                 // It is decided, unless a root finds it wrong.
    Finding finding = {};                  // A root's, the latest.
    std::vector<Mismatch> mismatches = {};
  };
  // How the workers of one vendor fare in a job: owners with standing by whether a root has found
  // results of theirs right, or wrong.
  struct Tally {
    std::set<PublicKey> right;
    std::set<PublicKey> wrong;
    std::vector<Mismatch> open;  // That are not shown yet to be the worker's fault.
    bool divided = false;        // More of it agree with a suspect than with the root.
  };
  struct Job {
    JobTerms terms;
    std::uint32_t tasks = 0;
    std::uint32_t held = 0;
    MicroCredits value = 0;
    std::map<std::uint32_t, Case> cases;  // By index.
    std::map<std::string, Tally, std::less<>> vendors;
    bool polling = false;
    std::uint64_t parts_polled = 0;
  };
  struct Pass;  // One event's way through: what is still to be looked at, and what came out.

  [[nodiscard]] CheckRates rates(const PublicKey& worker, const JobTerms& terms,
                                 UnixMillis now) const;
  Case* case_of(const TaskId& task);
  void begin(const TaskId& task, const PublicKey& worker, MicroCredits value, MicroCredits stake,
             Pass& pass);
  [[nodiscard]] std::vector<Ruling> run(std::vector<Decision> decisions, UnixMillis now);
  void run(Pass& pass);
  void on(const Provisional& provisional, Pass& pass);
  void on(const NeedReplicas& need, Pass& pass);
  void on(const Accepted& accepted, Pass& pass);
  void on(const Refused& refused, Pass& pass);
  // Adds the case where there is none yet.
  Case& case_for(const TaskId& task, const PublicKey& worker);
  void sample(const TaskId& task, const Hash& root, const PublicKey& suspect, Pass& pass);
  void check_pair(const TaskId& task, const Hash& root, const PublicKey& first, Pass& pass);
  void note_mismatch(const TaskId& task, const PublicKey& worker, const Hash& root, Pass& pass);
  void reject(const TaskId& task, Pass& pass);
  void passed(const TaskId& task, Pass& pass);
  // A root confirmed a result of this worker.
  void credit(const JobId& job, const PublicKey& worker, Pass& pass);
  void refuted(const TaskId& task, Case& closed, Pass& pass);
  void settle_mismatches(const Case& closed, const Accepted& accepted, Pass& pass);
  // A root agrees with results of these.
  void tally_right(const JobId& job, std::span<const PublicKey> workers, Pass& pass);
  // By how much the vendor's workers that are right lead in the job, the suspect among the others.
  [[nodiscard]] std::ptrdiff_t lead_of_right(const Tally& tally, const PublicKey& suspect) const;
  void count_mismatch(const JobId& job, const Mismatch& mismatch, bool conclusive, Pass& pass);
  // Whether, besides the root, a device of another vendor says so.
  [[nodiscard]] bool seen_twice(const Mismatch& mismatch, std::span<const PublicKey> right,
                                UnixMillis now) const;
  // Begins the next poll of a job that has none under way.
  void poll(const JobId& id, Pass& pass);
  void ask_poll(Job& job, const std::string& vendor, Mismatch& mismatch, Pass& pass);
  // What a wrong result costs that a root finds.
  [[nodiscard]] MicroCredits at_risk(MicroCredits value, const CheckRates& rates) const;
  // As decides(), but two established workers do not where there is a root to check them.
  [[nodiscard]] bool settles(std::span<const PublicKey> workers, UnixMillis now) const;
  [[nodiscard]] bool root_at_hand() const { return root_at_hand_ && root_at_hand_(); }
  // What was put aside for mismatches of this worker is free again.
  void free_risks(const PublicKey& worker);
  void recheck_held(const PublicKey& worker, Pass& pass);
  [[nodiscard]] bool trusts_heads() const { return !settings_.defences.newcomers_decide_nothing; }
  void ask(const TaskId& task, Stage stage, const Ballot& ballot, Pass& pass);
  void dispute(const TaskId& task, Pass& pass);
  void hold(const TaskId& task, Pass& pass);
  // With a winner, what agrees with it is accepted, whichever worker it is from.
  void release(const TaskId& task, Pass& pass, std::optional<Hash> winner = {});
  void release_if_last(const JobId& job, Pass& pass);
  void unhold(const TaskId& task, const Case& held);
  void leave_hold(const TaskId& task, const Case& open);
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits value, std::string reason,
               Pass& pass);
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty,
               MicroCredits value, std::string reason, Pass& pass);
  [[nodiscard]] std::uint32_t lead() const {
    return jury_lead(settings_.checks.error, settings_.checks.collusion);
  }

  const RefereeSettings settings_;
  const Secret secret_;
  Trust trust_;
  ReputationBook book_;
  StakesAtRisk stakes_;
  TrapPool traps_;
  Admissions admissions_;
  Evidence evidence_;
  std::unordered_map<PublicKey, std::uint32_t> passes_;     // Samples in a row; looked up only.
  std::unordered_map<PublicKey, std::uint32_t> suspicion_;  // Whole checks to come; looked up only.
  std::unordered_map<PublicKey, std::uint32_t> mistakes_;   // That a root found; looked up only.
  std::unordered_map<PublicKey, std::vector<TaskId>> risks_;  // Locked for mismatches.
  std::function<bool()> root_at_hand_;
  UnixMillis now_ = 0;  // Time of the event under way.
  std::map<JobId, Job> jobs_;
  std::unordered_map<PublicKey, std::deque<TaskId>> holds_;  // Oldest first; looked up only.
};

}  // namespace weft::trust
