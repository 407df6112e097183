// The coordinator's state and its rules: scheduler, trust and ledger composed, with the store behind. One thread owns it.
// Events come in, decisions are made, one group commit holds what the events of a batch decided, and only when that is
// durable do its effects go out: verdicts, answers. Nothing is acknowledged before. Leases acknowledge nothing and go out at once.
//
//   core.submit(...); core.deliver(...); core.receipt(...);     any number of events
//   core.flush(now);                                            decides, commits, and lets the effects follow
//
// It has no sockets, no threads and no clock: see World, and Moment with each event. The whole network is tested with
// simulated time and a store in memory.
//
// Threading: one thread. Bounds: Settings. Invariant: after every event the ledger sums to zero; a task is paid at most once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/coordinator/answers.h"
#include "apps/coordinator/book.h"
#include "apps/coordinator/events.h"
#include "apps/coordinator/world.h"
#include "common/protocol/api.h"
#include "common/protocol/watch.h"
#include "service/scheduler/types.h"
#include "service/store/blobs.h"
#include "service/store/store.h"
#include "service/trust/referee.h"

namespace weft::coordinator {

struct CoreSettings {
  scheduler::Settings scheduler;
  MicroCredits grant = 0;                  // To a new client, at its first job.
  std::size_t jobs_running_max = 10'000;   // --jobs-max
  std::size_t tasks_open_max = 2'000'000;  // Of all running jobs; --tasks-max.
  std::size_t workers_max = 20'000;
  std::size_t commits_in_flight_max = 32;  // Beyond that events gather.
  std::size_t departed_max = 1'000;        // Workers that left and are still listed.
  trust::RefereeSettings referee;
  trust::Secret secret;  // Of the referee's draws: random, the same after a restart, and told to nobody.
  // Of what a worker earns, this much goes to its stake until that holds stake_target (--stake-permille, --stake-target).
  std::uint32_t stake_permille = 0;
  MicroCredits stake_target = 10'000'000;
  std::map<PublicKey, double> client_weights;  // Of clients' shares of the network, where that is not 1 (--client-weight).
  bool stakes_open = false;                    // Workers may deposit and withdraw (--stakes).
  AnswerChecks answers;
};

// What a wallet has staked, and how much of it.
struct StakeMove {
  PublicKey wallet;
  bool deposit = true;
  bool as_worker = true;  // From and to worker:KEY, otherwise client:KEY.
  MicroCredits amount = 0;
  std::uint64_t number = 0;
};
struct StakeView {
  PublicKey wallet;
  MicroCredits staked = 0;
  MicroCredits at_risk = 0;  // For tasks and answers that are not decided.
  MicroCredits worker = 0, client = 0;
  double reputation = 0;
  bool established = false;
  UnixMillis suspended_until = 0;
};

// A client's weight (scheduler/fair_share.h), as the operator set it.
inline constexpr double client_weight_min = 0.001;
inline constexpr double client_weight_max = 1000;
struct ClientWeight {
  PublicKey client;
  double weight = 1;
  UnixMillis at = 0;  // By the operator's clock.
};

// What watchers are told: what changed since the last time, and where asked for all there is, as of now.
enum class WatchWanted : std::uint8_t { delta, snapshot_too };
struct WatchUpdate {
  protocol::watch::Delta delta;
  std::optional<protocol::watch::Snapshot> snapshot;
};

class Core {
 public:
  struct Parts {
    World& world;
    store::Store& store;
    store::Blobs& blobs;
    Book& book;
  };
  Core(Parts parts, CoreSettings settings);
  Core(const Core&) = delete;
  ~Core();

  // First of all: takes up what was stored. data_loss where it contradicts itself.
  [[nodiscard]] Result<> restore(store::Loaded loaded, Moment now);

  // --- Clients (core_jobs.cpp). The same nonce of the same client gives the same job again; with another manifest it is
  // already_exists. insufficient_funds where the client does not hold the budget.
  void submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer);
  // permission_denied for other clients than the job's. Ended jobs stay as they are.
  void cancel(const JobId& job, const PublicKey& client, Moment now, Answer<protocol::api::Submitted> answer);
  void joined(const JobId& job, Result<std::vector<store::OutputBlob>> outputs, Moment now);

  // --- Audits (core_audits.cpp).
  void opened(SessionId session, protocol::Opening opening, Moment now);
  void inspected(const TaskId& task, const PublicKey& auditor, trust::AuditOutcome outcome, Moment now);

  // --- Workers (core_workers.cpp). A second connection of one key replaces the first.
  void arrive(Arrival arrival, Moment now);
  // A task's state so far, as a blob (core_checkpoints.cpp).
  void checkpointed(SessionId session, const protocol::Checkpoint& told, Moment now);
  // Of open tasks.
  [[nodiscard]] std::set<Hash> checkpoints() const;
  // A blob that holds a state which nobody had named at the start: goes, unless somebody has meanwhile.
  void forget_stray(const Hash& checkpoint);
  // `held` are leases that it was given (lease_proof.h): the session has looked.
  void resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now);
  void beat(SessionId session, Moment now);
  void slots(SessionId session, std::uint32_t slots, Moment now);
  // The connection ended, on purpose (Bye) or not.
  void left(SessionId session, bool on_purpose, Moment now);

  // --- Results (core_results.cpp).
  void deliver(Delivery delivery, Moment now);
  void receipt(CoveringReceipt receipt, Moment now);
  void compared(const Comparison& comparison, Moment now);  // core_compare.cpp
  void failed(SessionId session, const protocol::TaskFailed& failure, Moment now);
  // A result that did not stand the checks: no such bytes, another root, a wrong product. Counts as the worker's failure.
  void refuse(SessionId session, const protocol::HeldTask& task, const Error& why, Moment now);

  // --- Language models (core_answers.cpp). `give`: credits for the owner, of the operator alone. A key's owner holds credits, or is
  // granted some, or the operator made the key.
  void add_key(ApiKey key, KeyMaker maker, MicroCredits give, Moment now, Answer<ApiKey> answer);
  // `who` empty: the operator.
  void revoke_key(const std::string& id, const std::optional<PublicKey>& who, Moment now, Answer<ApiKey> answer);
  void list_keys(const std::optional<PublicKey>& owner, Answer<std::vector<ApiKey>> answer);
  void show_key(const Hash& key, Answer<ApiKey> answer);
  // Sets the most that the answers can cost aside. Each of them ends with one answered().
  void admit_answers(const AnswerOrder& order, Moment now, Answer<AnswerAdmission> answer);
  void answered(AnswerReport report, Moment now);
  void answer_audited(const AnswerAudited& audited, Moment now);

  // --- Stakes (core_stakes.cpp). `number` is the request's own: the same one moves money once. permission_denied where stakes are not
  // open, insufficient_funds where the account does not hold it or what is staked is at risk.
  void move_stake(const StakeMove& move, Moment now, Answer<StakeView> answer);
  void show_stake(const PublicKey& wallet, Moment now, Answer<StakeView> answer);

  // --- Clients' weights (core_weights.cpp). already_exists where a later one is known, invalid_argument where it is out of bounds or its
  // time is far ahead.
  void set_weight(const ClientWeight& wanted, Moment now, Answer<protocol::api::Client> answer);
  void clients(Moment now, Answer<protocol::api::Clients> answer);

  // --- Decides, commits, acts. Call it after each batch of events and at next_deadline().
  void flush(Moment now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // --- Views (core_views.cpp). Answers go out after everything that they may show is durable.
  // Fills in what only the running state knows (leases, progress) of jobs that were read from the store.
  void live(std::vector<protocol::api::Job> jobs, Answer<std::vector<protocol::api::Job>> answer);
  // The same of one job, with why its next task waits.
  void show_job(protocol::api::Job job, Moment now, Answer<protocol::api::Job> answer);
  void live_tasks(const JobId& job, std::vector<protocol::api::Task> tasks, Answer<std::vector<protocol::api::Task>> answer);
  void workers(Answer<protocol::api::Workers> answer);
  void ledger(Answer<protocol::api::Ledger> answer);
  void balance(const ledger::Account& account, Answer<MicroCredits> answer);
  void metrics(Answer<std::string> answer);  // Prometheus text.

  // --- Watchers (core_watch.cpp). What changes is noted from the first watch() until nobody_watches().
  void watch(WatchWanted wanted, Moment now, Answer<WatchUpdate> answer);
  void nobody_watches();

  // For tests: computed from all balances.
  [[nodiscard]] MicroCredits ledger_sum() const;
  [[nodiscard]] MicroCredits balance_now(const ledger::Account& account) const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace weft::coordinator
