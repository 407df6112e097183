// The coordinator's state and its rules: scheduler, trust and ledger composed. One thread owns it.
// Events come in, decisions are made, one group commit holds what the events of a batch decided,
// and only when that is durable do its effects go out: verdicts, answers. Nothing is acknowledged
// before. Leases acknowledge nothing and go out at once.
//
//   core.submit(...); core.deliver(...); core.receipt(...);     any number of events
//   core.flush(now);                                            decides, commits, and lets the
//   effects follow
//
// It has no sockets, threads, store, blobs or clock: what it has to know of them arrives with the
// events, what it wants done goes out through World. The whole
// network is tested with simulated time and a store in memory.
//
// Threading: one thread. Bounds: Settings. Invariant: after every event the ledger sums to zero; a
// task is paid at most once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/protocol/api.h"
#include "common/protocol/watch.h"
#include "decisions/billing/answers.h"
#include "decisions/jobs/book.h"
#include "decisions/jobs/chain_stakes.h"
#include "decisions/jobs/events.h"
#include "decisions/jobs/grant_bounds.h"
#include "decisions/jobs/world.h"
#include "decisions/ledger/ledger.h"
#include "decisions/scheduler/types.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

struct CoreSettings {
  // Whether workers count by levels (trust/levels.h) or by heads, which only tests and simulations
  // want: wallets are free.
  void count_levels(bool on) {
    referee.defences = on ? trust::Defences{} : trust::Defences::none();
    scheduler.safeguards = on ? scheduler::Safeguards{} : scheduler::Safeguards::none();
    verification_permille = on ? CoreSettings{}.verification_permille : 0;
  }

  scheduler::Settings scheduler;
  MicroCredits grant = 0;  // To an invited client, once; granted credits.
  GrantLimits grants;      // The operator's own processes do not count.
  // Off only in tests: each new client is granted it at its first job, and wallets are free.
  bool grants_need_invitation = true;
  // Off only in tests: grants are free credits then, which can be staked and transferred.
  bool grants_tainted = true;
  // The share of each price that goes to the account that verifiers and auditors are paid from.
  std::uint32_t verification_permille = 20;
  std::size_t jobs_running_max = 10'000;    // --jobs-max
  std::size_t tasks_open_max = 2'000'000;   // Over all running jobs; --tasks-max.
  std::size_t jobs_per_client_max = 1'000;  // --jobs-per-client; 0: no bound.
  std::size_t tasks_per_client_max =
      500'000;  // Over its running jobs; --tasks-per-client; 0: no bound.
  std::size_t workers_max = 20'000;
  double workers_known_share = 0.25;  // The share that is kept for invited and established ones.
  std::size_t commits_in_flight_max = 32;  // Beyond that events gather.
  std::size_t departed_max = 1'000;        // Workers that left and are still listed.
  trust::RefereeSettings referee;
  trust::Secret
      secret;  // For the referee's draws: random, the same after a restart, and never sent.
  // This much of what a worker earns goes to its stake until that holds stake_target
  // (--stake-permille, --stake-target).
  std::uint32_t stake_permille = 0;
  MicroCredits stake_target = 10'000'000;
  // The least that an owner settles at a time: an epoch has room for 2,097,152 owners.
  MicroCredits settle_min = 1'000'000;
  std::map<PublicKey, double>
      client_weights;  // Clients' shares of the network, where that is not 1 (--client-weight).
  // Pay of newcomers becomes theirs so much later (docs/trust.md); 0: at once.
  std::chrono::milliseconds pay_held_for{600'000};
  // So long after an accepted result was found wrong its client gets its money back, if the worker
  // is convicted.
  std::chrono::milliseconds refund_owed_for{86'400'000};
  // What a conviction took does not reach: the rest of the owner's stake pays.
  bool refunds_from_stake = true;
  bool stakes_open = false;  // Workers may deposit and withdraw (--stakes).
  billing::AnswerChecks answers;
  // Off only in tests. A quote counts for one job (used_quotes.h); nothing of an owner is deleted
  // while something of it is under way; a suspension ends also for a worker that stays connected.
  bool quotes_count_once = true;
  bool owners_forgotten_idle = true;
  bool suspensions_end_connected = true;
};

// Credits between an owner and its stake. `wallet` is one of its devices.
struct StakeMove {
  PublicKey wallet;
  bool deposit = true;
  MicroCredits amount = 0;
  std::uint64_t number = 0;
};
struct StakeView {
  PublicKey wallet;
  MicroCredits staked = 0;    // In the ledger.
  MicroCredits on_chain = 0;  // On the chain, and not unbonding.
  MicroCredits at_risk = 0;   // For tasks and answers that are not decided.
  ledger::Funds spendable;
  double reputation = 0;
  bool established = false;
  UnixMillis suspended_until = 0;
};

// A reading of all stakes on the chain, as chain_stakes.h says, and what the coordinator knows
// then.
struct ChainReading {
  std::uint64_t slot = 0;
  std::vector<ChainStake> stakes;
};
struct ChainReadingTaken {
  std::uint64_t slot = 0;
  std::size_t owners = 0;
  MicroCredits staked = 0;
};

// Free credits of the owner of `by` out of the ledger, to be paid on the chain that settles it.
struct Settling {
  PublicKey by;
  MicroCredits amount = 0;
  std::uint64_t number = 0;  // The request's own: the same one moves credits once.
};

// A client that has shown an invitation, or a process of the operator's own (`is_own`), which the
// bounds of grants do not count.
struct GrantWanted {
  PublicKey client;
  std::string address;  // The group of addresses that count as one.
  bool is_own = false;
};

// How a job has ended.
struct EndedJob {
  store::JobState state = store::JobState::done;
  std::string reason;  // Empty where it is done.
  std::vector<store::OutputBlob> outputs;
  MicroCredits paid = 0;  // Out of its budget.
};

// What a device shows of its owner.
struct OwnerView {
  OwnerId owner;
  PublicKey device;
  ledger::Balances balances;
  std::vector<store::Device> devices;
};
// What the core holds of an owner, beside its jobs and its history.
struct OwnerData {
  struct Worker {
    protocol::api::Worker view;  // As it is connected, or with its counts alone.
    StakeView standing;
    UnixMillis seen = 0;  // The begin of the last day that is remembered of it; 0: none.
  };
  OwnerView owner;
  std::vector<store::ApiKey> keys;
  std::vector<Worker> workers;  // Its devices that have worked or are connected.
  std::vector<store::ClientWeight> weights;
};
// Free credits of the owner of `by`, or new ones (the operator's to make), to the owner of `to`.
struct Payment {
  enum class Source : std::uint8_t { balance, mint };
  PublicKey by;
  PublicKey to;
  MicroCredits amount = 0;
  std::uint64_t number = 0;  // The request's own: the same one moves credits once.
  Source source = Source::balance;
};

// The operator's word that a worker was convicted without cause.
struct Pardon {
  PublicKey worker;
  UnixMillis at = 0;  // By the operator's clock.
};
// A client's weight (scheduler/fair_share.h), as the operator set it.
inline constexpr double client_weight_min = 0.001;
inline constexpr double client_weight_max = 1000;
using store::ClientWeight;

// So long a quote holds.
inline constexpr UnixMillis quote_valid_ms = 300'000;

// What watchers are told: what changed since the last time, and where asked for all there is, as of
// now.
enum class WatchWanted : std::uint8_t { delta, snapshot_too };
struct WatchUpdate {
  protocol::watch::Delta delta;
  std::optional<protocol::watch::Snapshot> snapshot;
};

class Core {
 public:
  struct Parts {
    World& world;
    Book& book;
  };
  Core(Parts parts, CoreSettings settings);
  Core(const Core&) = delete;
  ~Core();

  // First of all: takes up what was stored. data_loss where it contradicts itself.
  [[nodiscard]] Result<> restore(Restored restored, Moment now);

  // --- Clients (core_jobs.cpp). The same nonce of the same client gives the same job again; with
  // another manifest it is already_exists. insufficient_funds where the client does not hold the
  // budget, or its max_price is below what its work is known to cost;
  // invalid_argument where its quote has ended.
  void submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer);
  // Whether submit() would take it now: insufficient_funds or resource_exhausted where not. True
  // for a nonce of this run's. Answered at once; changes nothing (core_admission.cpp).
  void may_submit(const JobOffer& offer, const Answer<bool>& answer);
  // What the job would cost if it were submitted now. Changes nothing (core_prices.cpp). The
  // answer has no signature yet.
  void quote(const QuoteWanted& wanted, Moment now, Answer<protocol::api::Quote> answer);
  // permission_denied for other owners than the job's. Ended jobs stay as they are.
  void cancel(const Cancellation& wanted, Moment now, Answer<protocol::api::Submitted> answer);
  void joined(const JobId& job, Result<std::vector<store::OutputBlob>> outputs, Moment now);

  // --- Audits (core_audits.cpp).
  void opened(SessionId session, protocol::Opening opening, Moment now);
  void inspected(const TaskId& task, const PublicKey& auditor, trust::AuditOutcome outcome,
                 Moment now);

  // --- The coordinator's verifier (core_audits.cpp). `failed`: not this verifier; where it is
  // late, not now (core_late.cpp).
  void verified(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  // The same of an order for a task that is paid (VerifyOrder::paid; core_rechecks.cpp).
  void rechecked(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  void paid_found(const PaidFound& found, Moment now);
  void joined_again(const JobId& job, const Result<JoinedAgain>& joined, Moment now);
  // An error: it could not run it, and tries again later.
  void measured(const JobId& job, const Result<scheduler::Measurement>& measurement, Moment now);

  // --- Workers (core_workers.cpp). A second connection of one key replaces the first.
  void arrive(Arrival arrival, Moment now);
  // A task's state so far, as a blob (core_checkpoints.cpp).
  void checkpointed(const SavedState& saved, Moment now);
  // `held` are leases that it was given (lease_proof.h): the session has looked.
  void resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now);
  void beat(SessionId session, Moment now);
  void slots(SessionId session, std::uint32_t slots, Moment now);
  // The connection ended, on purpose (Bye) or not.
  void left(SessionId session, bool on_purpose, Moment now);

  // --- Results (core_results.cpp).
  void deliver(const Delivery& delivery, Moment now);
  void receipt(CoveringReceipt receipt, Moment now);
  void compared(const Comparison& comparison, Moment now);  // Defined in core_compare.cpp.
  void failed(SessionId session, const protocol::TaskFailed& failure, Moment now);
  // A result that did not stand the checks: no such bytes, another root, a wrong product. Counts as
  // the worker's failure.
  void refuse(SessionId session, const protocol::HeldTask& task, const Error& why, Moment now);

  // --- Language models (core_answers.cpp). `give`: credits for the owner, of the operator alone. A
  // key's owner holds credits, or the operator made the key.
  void add_key(billing::ApiKey key, billing::KeyMaker maker, MicroCredits give, Moment now,
               Answer<billing::ApiKey> answer);
  // `who` empty: the operator.
  void revoke_key(const std::string& id, const std::optional<PublicKey>& who, Moment now,
                  Answer<billing::ApiKey> answer);
  void list_keys(const std::optional<PublicKey>& owner,
                 Answer<std::vector<billing::ApiKey>> answer);
  void show_key(const Hash& key, Answer<billing::ApiKey> answer);
  // Sets the most that the answers can cost aside. Each of them ends with one answered().
  void admit_answers(const billing::AnswerOrder& order, Moment now,
                     Answer<billing::AnswerAdmission> answer);
  void answered(billing::AnswerReport report, Moment now);
  void answer_audited(const billing::AnswerAudited& audited, Moment now);
  void answer_traced(const billing::AnswerTraced& traced, Moment now);

  // --- Requests that are jobs (core_requests.cpp). What was admitted ends with one
  // job_request_ended(), which counts what was spent.
  void admit_job_request(const billing::JobRequest& wanted, Moment now,
                         Answer<billing::JobAdmission> answer);
  void job_request_ended(const std::string& key_id, MicroCredits held, MicroCredits spent,
                         Moment now);
  // How many connected workers announce the feature.
  void count_workers(std::string_view feature, const Answer<std::size_t>& answer);
  // Tells once how a running job has ended; not_found where it does not run.
  void when_ended(const JobId& job, Answer<EndedJob> answer);

  // --- Stakes (core_stakes.cpp). `number` is the request's own: the same one moves money once.
  // permission_denied where stakes are not open, insufficient_funds where the account does not hold
  // it or what is staked is at risk.
  void move_stake(const StakeMove& move, Moment now, Answer<StakeView> answer);
  void show_stake(const PublicKey& wallet, Moment now, Answer<StakeView> answer);
  // As ChainStakes::seen().
  void chain_stakes(const ChainReading& reading, Moment now, Answer<ChainReadingTaken> answer);

  // --- Standing (core_standing.cpp). By the operator: the suspension ends, at once. not_found for
  // a worker that is not suspended, already_exists for a pardon from before its conviction,
  // invalid_argument where its time is far ahead.
  void pardon(const Pardon& wanted, Moment now, Answer<StakeView> answer);

  // --- Owners (core_owners.cpp). A device that is revoked, or is a recovery device and does not
  // manage devices, is permission_denied everywhere.
  // For any device of the owner.
  void show_owner(const PublicKey& device, Answer<OwnerView> answer);
  // Settings::grant for the owner, once: already_exists after that. permission_denied over
  // Settings::grants, and where nothing is granted.
  void grant(const GrantWanted& wanted, Moment now, Answer<OwnerView> answer);
  // insufficient_funds where the balance does not hold it (granted and held credits do not count),
  // invalid_argument for nothing and for the owner itself.
  void pay(const Payment& payment, Moment now, Answer<OwnerView> answer);
  // invalid_argument below Settings::settle_min: each owner that settles has a row in every epoch.
  void settle(const Settling& settling, Moment now, Answer<OwnerView> answer);
  // `device.key` has agreed to belong to `to`, which must be the owner of `by`. As
  // ledger::Owners::add() says; invalid_argument where the key holds credits of its own,
  // insufficient_funds where the owner holds none at all.
  void add_device(const PublicKey& by, const OwnerId& to, store::Device device, Moment now,
                  Answer<OwnerView> answer);
  // As ledger::Owners::revoke() says; a worker with the key is disconnected.
  void revoke_device(const PublicKey& by, const PublicKey& key, Moment now,
                     Answer<OwnerView> answer);

  // --- What is held of an owner (core_forget.cpp). Both are permission_denied for revoked and
  // recovery devices.
  void owner_data(const PublicKey& device, Moment now, Answer<OwnerData> answer);
  // Deletes what tells of the owner's ended jobs, its API keys, the names of its devices and when
  // its workers were here. unavailable while something of it is under way: a job, pay for its tasks
  // that is not free yet, an answer, a connected worker. Money, receipts, the devices' keys and
  // what is thought of its workers stay.
  void forget_owner(const PublicKey& device, Moment now, Answer<OwnerView> answer);

  // --- Clients' weights (core_weights.cpp). already_exists where a later one is known,
  // invalid_argument where it is out of bounds or its time is far ahead.
  void set_weight(const ClientWeight& wanted, Moment now, Answer<protocol::api::Client> answer);
  void clients(Moment now, Answer<protocol::api::Clients> answer);

  // --- Decides, commits, acts. Call it after each batch of events and at next_deadline().
  void flush(Moment now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // --- Views (core_views.cpp). Answers go out after everything that they may show is durable.
  // Fills in what only the running state knows (leases, progress) of jobs that were read from the
  // store.
  void live(std::vector<protocol::api::Job> jobs, Answer<std::vector<protocol::api::Job>> answer);
  // The same of one job, with why its next task waits.
  void show_job(protocol::api::Job job, Moment now, Answer<protocol::api::Job> answer);
  void live_tasks(const JobId& job, std::vector<protocol::api::Task> tasks,
                  Answer<std::vector<protocol::api::Task>> answer);
  void workers(Answer<protocol::api::Workers> answer);
  void ledger(Answer<protocol::api::Ledger> answer);
  // The sum over all of them.
  void balance(std::span<const ledger::Account> accounts, Answer<MicroCredits> answer);
  void settlement(Answer<protocol::api::Settlement> answer);
  void metrics(Answer<std::string> answer);  // Prometheus text.

  // --- Watchers (core_watch.cpp). What changes is noted from the first watch() until
  // stop_watching().
  void watch(WatchWanted wanted, Moment now, Answer<WatchUpdate> answer);
  void stop_watching();

  // For tests: computed from all balances.
  [[nodiscard]] MicroCredits ledger_sum() const;
  [[nodiscard]] MicroCredits balance_now(const ledger::Account& account) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace weft::jobs
