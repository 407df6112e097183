// The core's inside, shared by the core_*.cpp files. Private to them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "decisions/billing/answers.h"
#include "decisions/dashboard/watch_board.h"
#include "decisions/jobs/audits.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/coverings.h"
#include "decisions/jobs/evidence_rows.h"
#include "decisions/jobs/held_pay.h"
#include "decisions/jobs/rechecks.h"
#include "decisions/jobs/signed_claims.h"
#include "decisions/jobs/used_quotes.h"
#include "decisions/ledger/answer_pay.h"
#include "decisions/ledger/ledger.h"
#include "decisions/ledger/owners.h"
#include "decisions/scheduler/measured_work.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/seasons.h"
#include "decisions/trust/referee.h"
#include "decisions/trust/suspects.h"

namespace weft::jobs {

// What a worker handed in for a task that is not settled yet.
struct Delivered {
  protocol::TaskResult result;
  UnixMillis arrived = 0;
  bool counted = false;  // Covered by a receipt, and stored.
};

// What is needed of an accepted task until its job is joined; the rest of it is in the store.
struct Settled {
  Hash root;
  std::vector<store::OutputBlob> outputs;
};

struct RunningJob {
  store::Job row;  // Without the manifest's text, which is in the store.
  OwnerId owner;   // Its client's owner when it began to run: whose room it takes.
  Book::Manifest manifest;
  std::vector<std::unique_ptr<const Settled>> accepted;  // By index; null: the task is open.
  std::uint32_t accepted_count = 0;
  std::map<std::uint32_t, std::map<PublicKey, Delivered>> delivered;  // By index of an open task.
  std::map<std::uint32_t, std::set<PublicKey>> leased;                // The same; for views.
  std::map<std::uint32_t, std::map<std::pair<Hash, Hash>, bool>>
      compared;  // Whether two roots of a task agree within the tolerance.
  // Workers that audited an open task and agreed or accused, to be told and paid when it is
  // accepted. Two where established workers second each other; each of them once.
  struct Auditor {
    PublicKey worker;
    double share = 1;  // Share of the task.
    bool accuser = false;
  };
  std::map<std::uint32_t, std::vector<Auditor>> auditors;
  std::set<std::uint32_t>
      verified;  // Open tasks of which the coordinator's verifier found one right.
  // States of open tasks, by index, and by whose they are.
  struct Kept {
    Hash blob;
    std::uint64_t bytes = 0;
    std::uint32_t done = 0;
    std::uint32_t of = 1;
  };
  std::map<std::uint32_t, std::map<PublicKey, Kept>> checkpoints;
  bool refereed = false;  // The referee is told of first leases: it decides about replicas, or
                          // audits are wanted.
  bool joining = false;   // All tasks are accepted.
  // For watchers, of open tasks.
  std::map<std::uint32_t, Instant> leased_since;
  std::set<std::uint32_t> refused;  // A result was; they are computed once more.
  std::uint32_t refusals = 0;
  Hash work{};  // work_of() its manifest: what its canaries measure.
};

struct ConnectedWorker {
  SessionId session{};
  protocol::Hello hello;
  std::string blob_token;
  std::string prefix;  // As Arrival has it.
  UnixMillis since = 0;
  Coverings coverings;
  std::set<TaskId> undecided;  // Its results that wait for a check.
  std::uint32_t waiting = 0;   // Messages to it that wait for a commit, other than verdicts.
};

struct Counters {
  std::uint64_t jobs_submitted = 0;
  std::uint64_t jobs_done = 0;
  std::uint64_t jobs_failed = 0;
  std::uint64_t jobs_cancelled = 0;
  std::uint64_t tasks_accepted = 0;
  std::uint64_t replicas_counted = 0;
  std::uint64_t results_refused = 0;
  std::uint64_t leases_granted = 0;
  std::uint64_t leases_lost = 0;
  std::uint64_t workers_arrived = 0;
  std::uint64_t commits = 0;
  std::uint64_t audits = 0;
  std::uint64_t audits_differ = 0;
  std::uint64_t audits_unanswered = 0;
  std::uint64_t traps = 0;
  std::uint64_t convictions = 0;
  std::uint64_t lags = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t resumed = 0;
  std::uint64_t tasks_corrected = 0;
  std::uint64_t tasks_unchecked = 0;
  std::uint64_t jobs_corrected = 0;
};

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

struct Core::State final : dashboard::WatchSource {
  State(Parts given, CoreSettings chosen)
      : parts(given),
        settings(std::move(chosen)),
        scheduler(settings.scheduler),
        trust(settings.referee, settings.secret) {
    trust.standing().admissions().set_owners(
        [this](const PublicKey& worker) { return PublicKey{{owner_of(worker).bytes}}; });
    trust.standing().set_root_at_hand([this] { return parts.world.verifies(); });
  }

  Parts parts;
  CoreSettings settings;
  scheduler::Scheduler scheduler;
  trust::Referee trust;
  ledger::Ledger ledger;
  ledger::Owners owners;
  Audits audits;
  SignedClaims signed_claims;
  EvidenceRows evidence_rows;
  billing::Answers answers;
  std::vector<JobId>
      complete;              // All their tasks are accepted, by rulings that are being carried out.
  std::vector<Jury> juries;  // To be paid when what the dispute took from its losers is there.
  std::set<std::pair<UnixMillis, PublicKey>> suspensions;  // Workers that were here: until when.
  UnixMillis unix_now = 0;  // Time of the latest event; what is suspended until then.
  Instant at_now{};
  Instant samples_looked{}, samples_warned{};
  std::set<PublicKey> staked;  // Devices whose owner has a stake in the ledger.
  ChainStakes chain_stakes;
  std::unordered_set<OwnerId> funded;  // Owners that can spend something.

  std::unordered_map<JobId, RunningJob> jobs;                        // Looked up only.
  std::unordered_map<JobId, std::vector<Answer<EndedJob>>> waiters;  // For running jobs' ends.
  std::size_t tasks_open = 0;
  struct ClientLoad {
    std::size_t jobs = 0;
    std::uint64_t tasks = 0;
  };
  std::map<OwnerId, ClientLoad> loads;  // By owner with running jobs.
  // core_requests.cpp; before the job's escrow is closed.
  void tell_waiters(const RunningJob& job, const store::JobUpdate::End& end);
  // core_admission.cpp
  // Whether jobs of the client's owner may become one more.
  [[nodiscard]] Result<> room_for(const PublicKey& client, std::uint64_t tasks) const;
  void count_load(const OwnerId& owner, std::uint64_t tasks, bool begins);
  std::map<PublicKey, ConnectedWorker> workers;
  std::unordered_map<SessionId, PublicKey> keys;  // Connected workers.
  std::deque<protocol::api::Worker> departed;
  // Submissions taken since the start whose nonce may not have been durable yet when another one
  // was looked up for an event that still waits. Older ones are in the store.
  struct Taken {
    protocol::api::Submitted answer;
    Hash manifest_hash;
  };
  std::map<std::pair<PublicKey, store::SubmitNonce>, Taken> nonces;
  std::deque<std::pair<PublicKey, store::SubmitNonce>> nonces_order;
  std::unordered_set<OwnerId>
      granted;  // Owners whose grant was looked at since the start; the ledger knows them all.
  GrantBounds grant_bounds{settings.grants};
  Counters counters;
  dashboard::WatchBoard board;

  // What the events since the last flush decided, and what follows from it.
  store::Batch batch;
  std::vector<std::function<void()>> effects;
  // Flushes on their way to the disk, oldest first. Effects go out in order.
  struct Flight {
    std::uint64_t number = 0;
    bool durable = false;
    std::vector<std::function<void()>> effects;
  };
  std::deque<Flight> flights;
  std::uint64_t flight_next = 1;
  bool broken = false;  // A commit failed: nothing goes out any more.

  // core.cpp
  void effect(std::function<void()> work) { effects.push_back(std::move(work)); }
  // Hands one result over as an effect: after the events before it are recorded.
  template <class Value>
  auto replier(Answer<Value> answer) {
    return [this, answer = std::move(answer)](Result<Value> result) {
      effect([answer, result = std::move(result)] { answer(result); });
    };
  }
  // Refuses to move more free credits than an owner has; `verb` is what granted credits cannot be.
  [[nodiscard]] Result<> has_free(const OwnerId& owner, MicroCredits amount,
                                  std::string_view verb) const;
  // When what it tells is durable.
  void send(const PublicKey& worker, protocol::CoordinatorMessage message);
  // At once, unless others to this worker still wait: what acknowledges nothing. Leases are
  // forgotten by a crash anyway.
  void send_early(const PublicKey& worker, protocol::CoordinatorMessage message);
  void land();
  void decide(Moment now);
  void act(scheduler::Decision decision, Moment now);

  // core_jobs.cpp
  void add_running(RunningJob job, Moment now, std::span<const scheduler::TaskProgress> progress);
  void start_join(RunningJob& job, Moment now);
  void end_job(const JobId& id, store::JobUpdate::End end, Moment now);
  [[nodiscard]] trust::JobTerms terms_of(const Book::Manifest& manifest);

  // core_workers.cpp
  [[nodiscard]] ConnectedWorker* worker_of(SessionId session);
  // Fails if no more may join.
  [[nodiscard]] Result<> room_for(bool is_newcomer) const;
  void disconnect(const PublicKey& key, Moment now);
  // What the scheduler makes of it: its level, its suspension, how many leases it may hold.
  void refresh(const PublicKey& worker, Moment now);
  // Suspensions that are over.
  void end_suspensions(Moment now);
  void decided(const TaskId& task, const PublicKey& worker, Moment now);

  // core_results.cpp
  void act(const std::vector<trust::Ruling>& rulings, Moment now);
  void act(const trust::Ruling& ruling, Moment now);
  void count(const trust::Counted& counted, Moment now);
  static constexpr std::uint32_t newcomer_slots_max = 1024;
  void accept(const trust::Accepted& accepted, Moment now);
  void turn_down(const trust::Refused& refused, Moment now);
  void verdict(const TaskId& task, std::uint32_t attempt, const PublicKey& worker,
               std::optional<MicroCredits> paid, std::string reason);
  void store_reputation(const PublicKey& worker);
  void store_receipt(Covering& covering);
  // core_signed.cpp
  // The task of which the worker has signed two results, the first that is found. `is_earlier`: the
  // receipt is stored, and what it signs without a lease is remembered as well.
  [[nodiscard]] std::optional<TaskId> note_signed(const PublicKey& worker,
                                                  const CoveringReceipt& receipt, bool is_earlier,
                                                  Moment now);
  void end_contradicting(const PublicKey& worker, const TaskId& task, Moment now);

  // core_compare.cpp
  // Whether the result is being compared first: compared() hands it to trust then.
  bool compare_first(const RunningJob& job, const PublicKey& worker,
                     const protocol::TaskResult& result);
  [[nodiscard]] bool agree(const TaskId& task, const Hash& a, const Hash& b);

  // core_audits.cpp
  [[nodiscard]] MicroCredits replica_value(
      const RunningJob& job) const;  // 0 before the canary has passed.
  void tell_leased(const JobId& job, const PublicKey& worker,
                   std::span<const protocol::LeasedTask> tasks, Moment now);
  void start_audit(const trust::AuditWanted& wanted, Moment now);
  void verify(Audit& audit);
  void lease_audit(Audit& audit, Moment now);
  // Those that wait for an auditor.
  void lease_waiting_audits(Moment now);
  // Results of workers that are not trusted, which wait for a check.
  struct Samples {
    std::size_t waiting = 0;
    Duration oldest{};
  };
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
  // core_late.cpp
  // The coordinator's verifier did not check it: others do, or it is asked again later.
  void not_checked(Audit& audit, const Checked& checked, Moment now);
  [[nodiscard]] bool is_given_up(const Audit& audit, Moment now) const;
  // Whether the coordinator's verifier has it again.
  bool verify_again(const TaskId& task, Moment now);
  void not_measured(const JobId& job, const Error& why, Moment now);
  // Whether a paid task is computed again later.
  bool recheck_later(const TaskId& task, const Checked& checked, Moment now);
  void ask_late_again(Moment now);
  // Why checks of the job wait, in a sentence; empty if none has waited long.
  struct LateView {
    std::uint32_t task = 0;
    std::string sentence;
  };
  [[nodiscard]] LateView why_late(const JobId& job, Instant now) const;
  [[nodiscard]] std::optional<Instant> extras_deadline() const;

  // core_checkpoints.cpp
  void restore_checkpoints(std::span<const store::Checkpoint> rows);
  void drop_checkpoint(const TaskId& task, const PublicKey& worker);
  // From a state that `from` has kept. What a newcomer kept may be anything: a trusted worker that
  // went on from it would vouch for it.
  [[nodiscard]] bool others_may_go_on(const RunningJob& job, const PublicKey& from) const;
  void add_resume_points(protocol::Lease& lease, const PublicKey& worker);
  void add_client(protocol::Lease& lease, const PublicKey& worker) const;
  void forget_checkpoints(RunningJob& job, std::uint32_t index);
  void forget_checkpoints(RunningJob& job);
  // The share that the worker says it resumed: never more than it could have had, which is its own
  // state if it may not continue from another's.
  [[nodiscard]] double resumed_share(const protocol::TaskResult& result,
                                     const PublicKey& worker) const;

  // core_weights.cpp
  [[nodiscard]] Result<> restore_weights(std::span<const store::ClientWeight> rows);
  [[nodiscard]] double weight_of(const PublicKey& client) const;
  [[nodiscard]] protocol::api::Client client_view(const PublicKey& client,
                                                  const scheduler::ClientShare& share) const;
  std::map<PublicKey, ClientWeight> weights;  // Set at run time.

  // core_prices.cpp
  struct PriceNow {
    scheduler::Quote quote;
    std::optional<scheduler::Estimate> known;  // Where the same work was measured before.
  };
  [[nodiscard]] PriceNow price_now(const manifest::Manifest& manifest, const Hash& work,
                                   Moment now);
  [[nodiscard]] scheduler::Estimate known_price(const manifest::Manifest& manifest, double pace,
                                                MicroCredits per_unit) const;
  [[nodiscard]] Result<scheduler::PriceTerms> agree_on_price(const Submission& submission,
                                                             const PriceNow& made,
                                                             Moment now) const;
  // already_exists for a quote that counted for another job.
  [[nodiscard]] Result<> quote_is_fresh(const Submission& submission, Moment now);
  void note_measured(const scheduler::Measured& measured, Moment now);
  void restore_prices(const store::Loaded& loaded);
  void observe_season(Moment now);
  scheduler::Seasons seasons;
  UsedQuotes used_quotes;
  scheduler::MeasuredWork measured_work;
  std::optional<Instant> season_observed;

  // core_presence.cpp
  void restore_presence(std::span<const store::Presence> rows);
  void store_presence(Moment now);
  std::optional<Instant> presence_stored;  // When that of all connected workers was stored.

  // core_standing.cpp
  void restore_standings(const store::Loaded& loaded);
  void store_standings(Moment now);
  [[nodiscard]] bool a_worker_works_alone(Moment now) const;
  void convict(const trust::Convicted& convicted, Moment now);
  void pay_juries(Moment now);
  // Out of what was slashed, then out of the verification account: what could be paid.
  MicroCredits pay_for_checking(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                                std::string_view what, Moment now);
  MicroCredits pay_from_platform(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                                 std::string_view what, Moment now);

  // core_answers.cpp
  void store_key(const billing::ApiKey& key);
  [[nodiscard]] Result<> restore_answers(const Restored& restored, Moment now);
  bool move_answer_money(ledger::Transaction transaction, Moment now);
  [[nodiscard]] trust::CheckRates answer_rates(const PublicKey& worker, Moment now) const;
  [[nodiscard]] bool audit_is_due(const billing::AnswerId& id, billing::OpenAnswer& open,
                                  Moment now);
  void ask_audit(const billing::AnswerId& id, Moment now);
  [[nodiscard]] trust::Level answer_level(const PublicKey& worker, UnixMillis now) const;
  void judge_answer(const billing::AnswerId& id, std::int64_t lead, Moment now);
  // core_traces.cpp
  // Whether a stage of its chain is searched now: it is judged when that has ended.
  [[nodiscard]] bool trace_answer(const billing::AnswerId& id, std::int64_t lead, Moment now);
  [[nodiscard]] std::uint32_t strikes(const billing::OpenAnswer& open);
  [[nodiscard]] std::vector<ledger::AnswerWork> paid_work(const billing::OpenAnswer& open) const;
  void end_answer(const billing::AnswerId& id, MicroCredits due, billing::AnswerFate fate,
                  std::string_view why, Moment now);
  void forget_answer(const billing::AnswerId& id, billing::AnswerFate fate);
  void bar_server(const PublicKey& worker, Moment now);

  // core_stakes.cpp
  // What the owner has staked, in the ledger and on the chain together; and what of it the ledger
  // can slash, which alone may be locked for work (decision 31).
  [[nodiscard]] MicroCredits stake_of(const OwnerId& owner, Instant now) const;
  [[nodiscard]] MicroCredits slashable_stake_of(const OwnerId& owner) const;
  [[nodiscard]] MicroCredits stake_at_risk(const PublicKey& wallet) const;
  // The part of the owner's stake that is not at risk for answers or by another of its
  // devices: tasks of this one may lock it.
  [[nodiscard]] MicroCredits free_of_answers(const PublicKey& wallet) const;
  [[nodiscard]] StakeView stake_view(const PublicKey& wallet, Moment now) const;

  // core_held.cpp
  HeldPays held_pays;
  std::uint64_t held_moves = 0;  // Numbers transactions of it.
  [[nodiscard]] bool holds_pay_of(const PublicKey& worker) const;
  // The same in a sentence for the worker; empty if its pay is free at once.
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
  void hold_pay(std::vector<HeldPays::Entry> of_task, const RunningJob& job, std::uint32_t index,
                std::size_t agreeing, Moment now);
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
  void send_recheck(const PaidTask& paid);
  void name_unchecked(const PaidTask& paid, const PublicKey& worker, std::string_view reason,
                      Moment now);
  void correct(const PaidTask& paid, const PublicKey& worker, const Recomputed& right,
               MicroCredits refunded, Moment now);
  void go_on_rechecking(Moment now);
  void refund_corrected(const store::Recheck& row, Moment now);
  [[nodiscard]] bool is_convicted(const PublicKey& worker) const;
  void end_owed(Moment now);
  // To clients of wrong results of its workers, which may still be convicted.
  [[nodiscard]] MicroCredits owed_by(const OwnerId& owner) const;
  mutable std::optional<std::map<OwnerId, MicroCredits>> owed;  // By owner; counted when asked for.
  void settle_corrections();
  [[nodiscard]] bool may_be_refunded(const TaskId& task, const OpenCorrection& open) const;
  void tell_corrected(const store::Job& row);
  void restore_rechecks(const store::Loaded& loaded);

  // core_irreproducible.cpp
  void end_irreproducible(const JobId& job, std::string_view why, Moment now);
  void pay_what_ran(const RunningJob& job, Moment now);

  // core_evidence.cpp
  UnixMillis checks_swept = 0;
  void note_check(store::Check check);
  [[nodiscard]] store::Basis basis_of(RunningJob& job, const trust::Accepted& accepted,
                                      Moment now) const;
  void forget_checks(Moment now);

  // core_payments.cpp
  [[nodiscard]] OwnerId owner_of(const PublicKey& key) const { return owners.owner_of(key); }
  // core_forget.cpp
  [[nodiscard]] Result<> nothing_under_way(const OwnerView& owner) const;
  // core_owners.cpp
  [[nodiscard]] OwnerView owner_view(const PublicKey& device) const;
  // Whether nothing of the key's own is left, so that it may become another owner's device.
  [[nodiscard]] Result<> is_unused(const PublicKey& key) const;
  // What the owner of a worker or client can spend.
  [[nodiscard]] MicroCredits spendable(const PublicKey& key) const {
    return ledger.spendable(owner_of(key)).total();
  }
  // And of what it has earned, what is not free yet.
  [[nodiscard]] MicroCredits held_pay(const PublicKey& key) const {
    return ledger.held(owner_of(key)).total();
  }
  // core_grants.cpp
  // already_exists where the owner has had it.
  [[nodiscard]] Result<> grant(const OwnerId& owner, Moment now);
  // What a new owner is given at its first job: nothing, unless grants need no invitation.
  [[nodiscard]] MicroCredits grant_of_stranger(const OwnerId& owner) const;
  [[nodiscard]] Result<> fund(const OwnerId& owner, Moment now);
  [[nodiscard]] Error cannot_spend(const OwnerId& owner, MicroCredits budget) const;
  // Lets others know what the owner's balances mean: whether it can spend, whether it has a stake.
  void note_balances(const OwnerId& owner);
  [[nodiscard]] Result<> open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget,
                                     Moment now);
  // What each agreeing worker got, and who audited the task.
  struct Paid {
    MicroCredits each = 0;
    std::map<PublicKey, MicroCredits> auditors;
  };
  // What its auditors are to have, by the share of the task that each computed.
  [[nodiscard]] static std::map<PublicKey, MicroCredits> audit_pay(const RunningJob& job,
                                                                   std::uint32_t index,
                                                                   const ledger::TaskPay& pay);
  // What could be paid.
  MicroCredits pay_from_verification(const TaskId& task, const PublicKey& worker,
                                     MicroCredits amount, Moment now);
  // The part of a worker's pay that goes into its owner's stake.
  [[nodiscard]] MicroCredits part_for_stake(const OwnerId& owner, MicroCredits each) const;
  // Once it is known; a job shows it from then on.
  void set_price(RunningJob& job, const scheduler::Estimate& estimate);
  Paid pay(RunningJob& job, std::uint32_t index, std::span<const PublicKey> agreeing, Moment now);
  void close_escrow(const RunningJob& job, Moment now);
  [[nodiscard]] Result<ledger::Applied> move_money(ledger::Transaction transaction, Moment now);

  // core_views.cpp
  void fill(protocol::api::Job& view) const;
  [[nodiscard]] protocol::api::Worker view_of(const PublicKey& key,
                                              const ConnectedWorker& worker) const;

  // core_watch.cpp
  void keep_history(Moment now);
  void note_lease(RunningJob& job, std::uint32_t index, Moment now);
  void note_refusal(const TaskId& task);
  void note_acceptance(RunningJob& job, std::uint32_t index, MicroCredits paid, Moment now);
  [[nodiscard]] std::vector<JobId> watched_jobs(std::size_t count) const override;
  [[nodiscard]] std::size_t jobs_running() const override { return jobs.size(); }
  [[nodiscard]] protocol::watch::Job watched_head(const JobId& id) const override;
  [[nodiscard]] protocol::watch::TaskState watched_task(const TaskId& task) const override;
  void each_worker(const std::function<void(const WorkerNow&)>& use) const override;
  [[nodiscard]] protocol::watch::Worker watched_worker(const PublicKey& key) const override;
};

// For the rows of checks.
[[nodiscard]] store::Check::Outcome outcome_of(trust::AuditOutcome outcome);
[[nodiscard]] std::vector<store::Check::Range> ranges_of(std::span<const manifest::Range> ranges);
[[nodiscard]] std::optional<store::Check::Range> range_of(
    const std::optional<manifest::Range>& range);

[[nodiscard]] std::vector<store::OutputBlob> blobs_of(const protocol::TaskResult& result);

}  // namespace weft::jobs
