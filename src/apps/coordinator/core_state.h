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

#include "apps/coordinator/core.h"
#include "service/ledger/ledger.h"
#include "service/scheduler/scheduler.h"
#include "service/trust/trust.h"

namespace weft::coordinator {

// What a worker handed in for a task that is not settled yet.
struct Delivered {
  protocol::TaskResult result;
  UnixMillis arrived = 0;
  bool counted = false;  // Covered by a receipt, and stored.
};

// A receipt, stored when the first of its results counts.
struct Covering {
  store::Receipt receipt;
  bool stored = false;
};

// What is needed of an accepted task until its job is joined; the rest of it is in the store.
struct Settled {
  Hash root;
  std::vector<store::OutputBlob> outputs;
};

struct RunningJob {
  store::Job row;  // Without the manifest's text, which is in the store.
  Book::Manifest manifest;
  std::vector<std::unique_ptr<const Settled>> accepted;  // By index; null: the task is open.
  std::uint32_t accepted_count = 0;
  std::map<std::uint32_t, std::map<PublicKey, Delivered>> delivered;  // Of open tasks, by index.
  std::map<std::uint32_t, std::set<PublicKey>> leased;                // Likewise; for views.
  bool joining = false;                                               // All tasks are accepted.
};

struct ConnectedWorker {
  SessionId session = 0;
  protocol::Hello hello;
  std::string blob_token;
  UnixMillis since = 0;
  // Which receipt covers an attempt, oldest dropped first.
  using Attempt = std::pair<TaskId, std::uint32_t>;
  std::map<Attempt, std::shared_ptr<Covering>> covering;
  std::deque<Attempt> covering_order;
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
};

struct Core::State {
  State(Parts given, CoreSettings chosen) : parts(given), settings(std::move(chosen)), scheduler(settings.scheduler) {}

  Parts parts;
  CoreSettings settings;
  scheduler::Scheduler scheduler;
  trust::Trust trust;
  ledger::Ledger ledger;

  std::unordered_map<JobId, RunningJob> jobs;  // Looked up only.
  std::size_t tasks_open = 0;
  std::map<PublicKey, ConnectedWorker> workers;
  std::unordered_map<SessionId, PublicKey> keys;  // Of connected workers.
  std::deque<protocol::api::Worker> departed;
  // Submissions taken since the start whose nonce may not be durable yet. Older ones are in the store.
  std::map<std::pair<PublicKey, store::SubmitNonce>, JobId> nonces;
  std::deque<std::pair<PublicKey, store::SubmitNonce>> nonces_order;
  std::unordered_set<PublicKey> granted;  // Clients whose grant was looked at since the start; the ledger knows them all.
  Counters counters;

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
  void send(const PublicKey& worker, protocol::CoordinatorMessage message);
  void land();
  void decide(Moment now);
  void act(scheduler::Decision decision, Moment now);

  // core_jobs.cpp
  void add_running(RunningJob job, Moment now, std::span<const scheduler::TaskProgress> progress);
  void start_join(RunningJob& job);
  void end_job(const JobId& id, store::JobUpdate::End end, Moment now);
  [[nodiscard]] trust::Policy policy_of(const Book::Manifest& manifest, const JobId& id);
  [[nodiscard]] std::optional<std::string> difference(const TaskId& task, const Hash& a, const Hash& b);

  // core_workers.cpp
  [[nodiscard]] ConnectedWorker* worker_of(SessionId session);
  void disconnect(const PublicKey& key, Moment now);

  // core_results.cpp
  void act(const trust::Decision& decision, Moment now);
  void count(const trust::Counted& counted);
  void accept(const trust::Accepted& accepted, Moment now);
  void turn_down(const trust::Refused& refused, Moment now);
  void verdict(const TaskId& task, std::uint32_t attempt, const PublicKey& worker, std::optional<MicroCredits> paid, std::string reason);
  void store_reputation(const PublicKey& worker);

  // core_payments.cpp
  [[nodiscard]] Result<> open_escrow(const JobId& job, const PublicKey& client, MicroCredits budget, Moment now);
  // What each agreeing worker got.
  MicroCredits pay(RunningJob& job, std::uint32_t index, std::span<const PublicKey> agreeing, Moment now);
  void close_escrow(const RunningJob& job, Moment now);
  [[nodiscard]] Result<ledger::Applied> move_money(ledger::Transaction transaction, Moment now);

  // core_views.cpp
  [[nodiscard]] protocol::api::Worker view_of(const PublicKey& key, const ConnectedWorker& worker) const;
};

}  // namespace weft::coordinator
