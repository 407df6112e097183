// The core's inside: its tables, its parts, and what is not a part of its own yet. Private to the
// core_*.cpp files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/checker_pay.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/client_weights.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/core_metrics.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/double_signing.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/held_pay.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/owner_records.h"
#include "decisions/jobs/owner_requests.h"
#include "decisions/jobs/rechecks.h"
#include "decisions/jobs/result_comparisons.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/standings.h"
#include "decisions/jobs/task_payments.h"
#include "decisions/jobs/worker_presence.h"
#include "decisions/jobs/worker_sessions.h"
#include "decisions/trust/suspects.h"

namespace weft::jobs {

// The workers that decided a dispute besides those that the job pays.
struct Jury {
  struct Member {
    PublicKey worker;
    std::uint32_t attempt = 0;
    MicroCredits pay = 0;
  };
  TaskId task;
  std::vector<Member> members;
};

struct Core::State final : CoreTables,
                           private Rulings,
                           private CheckLeases,
                           private OpenClaims,
                           private PayHolding {
  State(Parts given, CoreSettings chosen)
      : CoreTables(given.world, given.book, std::move(chosen)) {}

  Grants grants{*this};
  ClientKeys keys{*this, grants};
  ClientWeights weights{*this};
  JobPrices prices{*this};
  Checkpoints checkpoints{*this};
  CheckerPay checker_pay{*this};
  JobWatch watch{*this, prices};
  CoreViews views{*this};
  WorkerPresence presence{*this};
  WorkerSessions sessions{*this, watch, *this};
  Stakes stakes{*this, *this};
  Standings standings{*this, stakes, sessions};
  Completions completions{*this, keys, grants, stakes, *this};
  OwnerRequests owner_requests{*this, keys, sessions};
  OwnerRecords owner_records{*this, keys, weights, stakes, presence, *this};
  DoubleSigning signing{*this, stakes};
  ResultComparisons comparisons{*this, *this};
  TaskPayments payments{*this, grants, checker_pay, *this};
  JobLife life{*this,
               {.prices = prices,
                .weights = weights,
                .stakes = stakes,
                .comparisons = comparisons,
                .watch = watch,
                .payments = payments,
                .checkpoints = checkpoints,
                .sessions = sessions,
                .checks = *this,
                .claims = *this}};
  JobSubmissions submissions{*this, grants, prices, payments, life};

  Audits audits;
  std::vector<JobId>
      complete;              // All their tasks are accepted, by rulings that are being carried out.
  std::vector<Jury> juries;  // To be paid when what the dispute took from its losers is there.
  Instant samples_looked{}, samples_warned{};

  // core.cpp
  void decide(Moment now);
  void act(scheduler::Decision decision, Moment now);
  void add_client(protocol::Lease& lease, const PublicKey& worker) const;

  // core_results.cpp
  void carry_out(const std::vector<trust::Ruling>& rulings, Moment now) override {
    act(rulings, now);
  }
  void act(const std::vector<trust::Ruling>& rulings, Moment now);
  void act(const trust::Ruling& ruling, Moment now);
  void count(const trust::Counted& counted, Moment now);
  static constexpr std::uint32_t newcomer_slots_max = 1024;
  void accept(const trust::Accepted& accepted, Moment now);
  void turn_down(const trust::Refused& refused, Moment now);
  void store_reputation(const PublicKey& worker);
  void store_receipt(Covering& covering);
  // core_signed.cpp
  void end_contradicting(const PublicKey& worker, const TaskId& task, Moment now);

  // core_audits.cpp
  void leased(const JobId& job, const PublicKey& worker,
              std::span<const protocol::LeasedTask> tasks, Moment now) override {
    tell_leased(job, worker, tasks, now);
  }
  void worker_came(Moment now) override { lease_waiting_audits(now); }
  void worker_left(const PublicKey& worker, Moment now) override { extras_of_gone(worker, now); }
  void job_ends(const JobId& job) override { extras_of_ended(job); }
  [[nodiscard]] MicroCredits replica_value(
      const RunningJob& job) const;  // 0 before the canary has passed.
  void tell_leased(const JobId& job, const PublicKey& worker,
                   std::span<const protocol::LeasedTask> tasks, Moment now);
  void start_audit(const trust::AuditWanted& wanted, Moment now);
  void verify(Audit& audit);
  void lease_audit(Audit& audit, Moment now);
  // Those that wait for an auditor.
  void lease_waiting_audits(Moment now);
  using Samples = WaitingSamples;
  [[nodiscard]] Samples samples() const;
  void note_sample(const Audit& audit, Moment now);
  [[nodiscard]] bool verifier_has_room() const;
  void warn_of_lag(Moment now);
  void measure_canary(const JobId& job);
  void lease_extra(const PublicKey& worker, const TaskId& task, manifest::Range range);
  void audit_again(const TaskId& task, Moment now);
  void audit_ends(const TaskId& task, trust::AuditOutcome outcome, Moment now);
  void inspect_if_complete(Audit& audit);
  void lease_trap(const PublicKey& worker, const trust::Trap& trap, Moment now);
  void spring_if_complete(const PublicKey& worker, const TaskId& task, Moment now);
  // core_polls.cpp
  void start_poll(const trust::PollWanted& wanted, Moment now);
  void inspect_poll(const PublicKey& worker, const TaskId& task, Moment now);
  void poll_ends(const PublicKey& worker, const TaskId& task, trust::AuditOutcome outcome,
                 Moment now);
  // Whether it was an audit's, a trap's or a poll's.
  bool extra_result(const PublicKey& worker, const protocol::TaskResult& result, Moment now);
  void extra_claim(const PublicKey& worker, const protocol::ReceiptItem& item, Moment now);
  bool extra_failed(const PublicKey& worker, const TaskId& task, std::uint32_t attempt, Moment now);
  void extras_of_gone(const PublicKey& worker, Moment now);
  void extras_of_ended(const JobId& job);
  void expire_extras(Moment now);
  void note_silence(const TaskId& task);
  [[nodiscard]] std::optional<Instant> extras_deadline() const;

  // core_standing.cpp
  void convict(const trust::Convicted& convicted, Moment now);
  void pay_juries(Moment now);

  // core_held.cpp
  [[nodiscard]] bool holds_pay_of(const PublicKey& worker) const override;
  void hold(std::vector<HeldPays::Entry> of_task, const RunningJob& job, std::uint32_t index,
            std::size_t agreeing, Moment now) override;
  void hold_unknown(const HeldPays::Entry& entry, Moment now) override {
    held_pays.add(entry, now.at + settings.pay_held_for);
  }
  HeldPays held_pays;
  std::uint64_t held_moves = 0;  // Numbers transactions of it.
  // That its pay is held, in a sentence for the worker; empty if its pay is free at once.
  [[nodiscard]] std::string why_held(const PublicKey& worker) const;
  // The same of why it gets no task, as a newcomer of another network.
  [[nodiscard]] std::string why_no_task(const PublicKey& worker) const;
  // Pay that a conviction took, of tasks that the verifier computes again: who is to have it.
  struct LostPay {
    PublicKey worker;
    OwnerId owner;
    HeldPays::Part part;
  };
  std::map<TaskId, std::vector<LostPay>> lost_pays;
  void move_held(ledger::Transaction transaction, std::string_view what,
                 const HeldPays::Entry& held, Moment now);
  void free_held_pay(Moment now);
  void forfeit_held_pay(const PublicKey& worker, Moment now);
  void compute_again(const LostPay& lost);
  // Whether the client of its task, which is corrected already, was given it.
  bool is_lost_to_client(const LostPay& lost, Moment now);
  [[nodiscard]] Instant free_after_correction(const store::Correction& row, Moment now) const;
  // At most `owed` of it is the client's: the rest goes to the verification account.
  MicroCredits settle_lost(const LostPay& lost, MicroCredits owed, Moment now);
  // What the client of a wrong task has not got back yet of what it paid for it.
  [[nodiscard]] MicroCredits owed_for(const PaidTask& paid) const;
  void forget_held_row(const TaskId& task, const PublicKey& worker);
  [[nodiscard]] Result<> restore_held_pay(const store::Loaded& loaded, Moment now);

  // core_rechecks.cpp
  Rechecks rechecks;
  std::map<TaskId, OpenCorrection> corrections;
  std::set<JobId> joining_again;
  std::optional<Instant> owed_looked;  // For what is owed no more.
  trust::Suspects suspects;
  std::set<PublicKey> found_wrong;  // Workers whose recheck has found a wrong task.
  void suspect(const trust::Suspected& suspected, Moment now);
  void go_on_suspecting(Moment now);
  void begin_recheck(const PublicKey& worker, MicroCredits taken, Moment now);
  void order_recheck(const PublicKey& worker, const std::shared_ptr<const PaidTask>& paid);
  void name_unchecked(const PaidTask& paid, const PublicKey& worker, std::string_view reason,
                      Moment now);
  void correct(const PaidTask& paid, const PublicKey& worker, const Recomputed& right,
               MicroCredits refunded, Moment now);
  void go_on_rechecking(Moment now);
  void refund_corrected(const store::Recheck& row, Moment now);
  [[nodiscard]] bool is_convicted(const PublicKey& worker) const;
  void end_owed(Moment now);
  [[nodiscard]] bool may_take_all(const PublicKey& worker) const override {
    return rechecks.contains(worker) && is_convicted(worker);
  }
  [[nodiscard]] MicroCredits owed_by(const OwnerId& owner) const override;
  [[nodiscard]] bool may_correct_for(const PublicKey& client) const override;
  void settle() override { settle_corrections(); }
  mutable std::optional<std::map<OwnerId, MicroCredits>> owed;  // By owner; counted when asked for.
  void settle_corrections();
  [[nodiscard]] bool may_be_refunded(const TaskId& task, const OpenCorrection& open) const;
  void restore_rechecks(const store::Loaded& loaded);

  // core_evidence.cpp
  UnixMillis checks_swept = 0;
  void note_check(store::Check check);
  [[nodiscard]] store::Basis basis_of(RunningJob& job, const trust::Accepted& accepted,
                                      Moment now) const;
  void forget_checks(Moment now);
};

// For the rows of checks.
[[nodiscard]] store::Check::Outcome outcome_of(trust::AuditOutcome outcome);
[[nodiscard]] std::vector<store::Check::Range> ranges_of(std::span<const manifest::Range> ranges);
[[nodiscard]] std::optional<store::Check::Range> range_of(
    const std::optional<manifest::Range>& range);

}  // namespace weft::jobs
