// Simulates a whole network from one seed: scheduler, trust and ledger together, with workers that
// are slow, hang, lie, crash and come back, and messages that are lost, late, duplicated and
// reordered. In all cases every job ends, no worker holds a task twice, no task has more replicas
// under way than it wants, and the money adds up.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "common/base/long_tests.h"
#include "decisions/ledger/ledger.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/test_network.h"
#include "decisions/trust/trust.h"

namespace weft::scheduler {
namespace {

Hash right_root(const TaskId& task) {
  Hash root;
  root.bytes[0] = static_cast<std::uint8_t>(task.index);
  root.bytes[1] = task.job.bytes[0];
  return root;
}

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : seed_(seed), random_(seed) {
    client_ = OwnerId::of_first(key_of(1'000'000));
    EXPECT_EQ(ledger_.apply(ledger::issue(client_, MicroCredits{1} << 50, 1)),
              ledger::Applied::now);
    const std::uint64_t peers = 4 + pick(5);
    for (std::uint64_t i = 0; i < peers; ++i) {
      Peer& peer = peers_[i];
      peer.info = chance(30) ? browser_worker(i, 0.2)
                             : native_worker(i, 0.2 + 0.2 * static_cast<double>(pick(10)));
      if (i >= 4 && chance(30)) peer.info.capabilities.device = protocol::DeviceKind::cpu;
      if (chance(30)) peer.info.sharing = Sharing::sliced;
      peer.liar = i == 0 && chance(50);
      peer.hanging_percent = chance(20) ? 10 : 0;
      peer.failing_percent = chance(30) ? 5 : 0;
      later(0.001 * static_cast<double>(pick(2000)), [this, i] { connect(i); });
    }
    pending_submissions_ = 2 + pick(4);
    for (std::uint64_t i = 0; i < pending_submissions_; ++i)
      later(0.001 * static_cast<double>(pick(10'000)), [this, i] { submit(i); });
  }

  void run() {
    while (!events_.empty() && seconds(time_ - at(0)) < 3600) {
      const auto deadline = scheduler_.next_deadline();
      if (deadline && *deadline < events_.begin()->first.first) {
        time_ = std::max(time_, *deadline);
      } else {
        time_ = events_.begin()->first.first;
        const auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        event();
      }
      act(scheduler_.decide(time_));
      ASSERT_EQ(ledger_.sum(), 0) << where();
      if (submitted_ > 0 && submitted_ == ended_.size() && pending_submissions_ == 0) break;
    }
    EXPECT_EQ(ended_.size(), submitted_) << where() << ": a job did not end";
    EXPECT_EQ(scheduler_.views().jobs(), 0U) << where();
    for (const auto& [account, amount] : ledger_.balances())
      EXPECT_NE(account.kind, ledger::Account::Kind::escrow) << where();
  }

  [[nodiscard]] std::size_t done() const { return done_; }
  [[nodiscard]] std::size_t failed() const { return ended_.size() - done_; }

 private:
  struct Assignment {
    TaskId task;
    std::uint32_t attempt = 0;
    std::uint32_t count = 0;
    friend bool operator==(const Assignment&, const Assignment&) = default;
  };
  struct Peer {
    Worker info;
    bool liar = false;
    std::uint64_t hanging_percent = 0;
    std::uint64_t failing_percent = 0;
    // The number of the connection: messages of an earlier connection are dropped.
    std::uint64_t connection = 0;
    bool connected = false;
    bool busy = false;
    std::vector<Assignment> queue;
  };
  struct JobBook {
    Job spec;
    MicroCredits task_price = 0;
    std::set<std::uint32_t> accepted;
  };

  // --- Time and chance.
  std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t percent) { return pick(100) < percent; }
  void later(double delay, std::function<void()> event) {
    const Instant when =
        time_ + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(delay));
    events_[{when, next_event_++}] = std::move(event);
  }
  // Sends a message over the network, which may lose, delay (and so reorder) or duplicate it. The
  // message arrives only if its connection is still open.
  void send(std::uint64_t peer, const std::function<void()>& message) {
    const std::uint64_t connection = peers_[peer].connection;
    for (std::uint64_t copies = chance(2) ? 0 : chance(3) ? 2 : 1; copies > 0; --copies) {
      later(0.001 * static_cast<double>(1 + pick(chance(5) ? 4000 : 60)),
            [this, peer, connection, message] {
              if (peers_[peer].connected && peers_[peer].connection == connection) message();
            });
    }
  }
  std::string where() const {
    return "seed " + std::to_string(seed_) + " at " + std::to_string(seconds(time_ - at(0))) + " s";
  }

  // --- The workers' side.
  void connect(std::uint64_t number) {
    Peer& peer = peers_[number];
    peer.connected = true;
    ++peer.connection;
    ASSERT_TRUE(scheduler_.add_worker(peer.info, time_).has_value()) << where();
    if (!peer.queue.empty()) {
      std::vector<protocol::HeldTask> held;
      for (const Assignment& each : peer.queue) held.push_back({each.task, each.attempt});
      scheduler_.resume(peer.info.key, held, time_);
      work_on(number);
    }
    beat(number, peer.connection);
    later(1 + 0.001 * static_cast<double>(pick(100'000)),
          [this, number, connection = peer.connection] { break_connection(number, connection); });
  }
  void beat(std::uint64_t number, std::uint64_t connection) {
    if (!peers_[number].connected || peers_[number].connection != connection) return;
    scheduler_.heard(peers_[number].info.key, time_);
    later(1, [this, number, connection] { beat(number, connection); });
  }
  void break_connection(std::uint64_t number, std::uint64_t connection) {
    Peer& peer = peers_[number];
    if (!peer.connected || peer.connection != connection) return;
    scheduler_.remove_worker(peer.info.key, chance(50) ? Departure::left : Departure::lost, time_);
    gone(number);
  }
  void gone(std::uint64_t number) {
    Peer& peer = peers_[number];
    peer.connected = false;
    if (chance(50)) {  // The worker was restarted and remembers nothing.
      peer.queue.clear();
      peer.busy = false;
    }
    later(0.1 + 0.001 * static_cast<double>(pick(3000)), [this, number] { connect(number); });
  }
  void work_on(std::uint64_t number) {
    Peer& peer = peers_[number];
    if (peer.busy || peer.queue.empty()) return;
    peer.busy = true;
    const Assignment now = peer.queue.front();
    const double duration =
        chance(peer.hanging_percent)
            ? 100
            : 0.002 * now.count / (peer.info.capabilities.f32_gflop_per_s / 1000);
    later(duration, [this, number, now] {
      Peer& worker = peers_[number];
      worker.busy = false;
      if (std::erase(worker.queue, now) > 0) answer(number, now);
      work_on(number);
    });
  }
  void answer(std::uint64_t number, const Assignment& done) {
    const PublicKey key = peers_[number].info.key;
    if (chance(peers_[number].failing_percent)) {
      send(number, [this, key, done] {
        (void)scheduler_.failed(done.task, key, done.attempt,
                                {ErrorCode::device_lost, "The device is lost."}, time_);
      });
      return;
    }
    Hash root = right_root(done.task);
    if (peers_[number].liar) root.bytes[31] = 0xee;
    send(number, [this, key, done, root] {
      if (!scheduler_.result(
              {.task = done.task, .worker = key, .attempt = done.attempt, .gpu_seconds = 0.001},
              time_))
        return;
      reported_.insert({done.task, key});
      judge(trust_.add_result({done.task, key, done.attempt, root}));
    });
    send(number, [this, key, done, root] {
      judge(trust_.add_receipt(key, std::vector<trust::Claim>{{done.task, done.attempt, root}}));
    });
  }

  // --- The coordinator's side.
  void submit(std::uint64_t number) {
    JobBook book{.spec = small_job(number + 1, static_cast<std::uint32_t>(1 + pick(20)),
                                   static_cast<std::uint32_t>(1 + pick(3))),
                 .accepted = {}};
    book.spec.priority = static_cast<std::uint32_t>(pick(100));
    if (chance(30)) book.spec.kind = manifest::Kind::kernel;
    if (chance(40))
      book.spec.requirements.memory_bytes = std::uint64_t{1} << (chance(50) ? 29 : 30);
    book.spec.client = key_of(1'000'001 + pick(3));
    book.spec.share = static_cast<double>(1 + pick(3));
    if (chance(50)) book.spec.deadline = time_ + std::chrono::seconds(300);
    ASSERT_EQ(ledger_.apply(ledger::open_escrow(book.spec.id, client_, book.spec.budget,
                                                ledger_.spendable(client_))),
              ledger::Applied::now);
    trust_.add_job(book.spec.id, {.replicas = book.spec.replicas, .agree = {}}, book.spec.tasks);
    ASSERT_TRUE(scheduler_.add_job(book.spec, time_).has_value());
    books_[book.spec.id] = book;
    ++submitted_;
    --pending_submissions_;
  }
  void end(const JobId& id, bool done) {
    ASSERT_TRUE(ended_.insert(id).second) << where() << ": a job ends twice";
    done_ += done ? 1 : 0;
    scheduler_.remove_job(id, "The job has ended.");
    trust_.remove_job(id);
    ASSERT_TRUE(ledger_.apply(ledger::close_escrow(id, client_, ledger_.escrow(id))).has_value())
        << where();
    ledger_.close(id);
    std::erase_if(leases_, [&](const auto& lease) { return lease.first.job == id; });
  }
  void judge(const std::vector<trust::Decision>& decisions) {
    for (const trust::Decision& decision : decisions) {
      if (const auto* counted = std::get_if<trust::Counted>(&decision)) {
        scheduler_.counted(counted->task, counted->worker);
        counted_[counted->task].insert(counted->worker);
        leases_[counted->task].erase(counted->worker);
      } else if (const auto* refused = std::get_if<trust::Refused>(&decision)) {
        (void)scheduler_.failed(refused->task, refused->worker, refused->attempt,
                                {ErrorCode::data_loss, refused->reason}, time_);
      } else if (const auto* need = std::get_if<trust::NeedReplicas>(&decision)) {
        wanted_[need->task] = need->replicas;
        scheduler_.want_replicas(need->task, need->replicas);
      } else if (const auto* failed = std::get_if<trust::JobFailed>(&decision)) {
        end(failed->job, false);
      } else {
        accept(std::get<trust::Accepted>(decision));
      }
    }
  }
  void accept(const trust::Accepted& accepted) {
    JobBook& book = books_.at(accepted.task.job);
    EXPECT_TRUE(book.accepted.insert(accepted.task.index).second)
        << where() << ": a task is accepted twice";
    if (book.spec.replicas > 1) {
      EXPECT_EQ(accepted.root, right_root(accepted.task)) << where();
    }
    std::vector<OwnerId> agreeing;
    for (const PublicKey& worker : accepted.agreeing) agreeing.push_back(OwnerId::of_first(worker));
    EXPECT_EQ(ledger_.apply(ledger::pay_task({.task = accepted.task,
                                              .client = client_,
                                              .price = book.task_price,
                                              .replicas = book.spec.replicas},
                                             agreeing, ledger_.escrow(accepted.task.job))),
              ledger::Applied::now)
        << where();
    scheduler_.settled(accepted.task);
    leases_.erase(accepted.task);
    if (book.accepted.size() == book.spec.tasks) end(accepted.task.job, true);
  }
  void act(const std::vector<Decision>& decisions) {
    for (const Decision& decision : decisions) {
      if (const auto* lost = std::get_if<LeaseLost>(&decision)) {
        trust_.withdraw(lost->task, lost->worker);
        leases_[lost->task].erase(lost->worker);
        reported_.erase({lost->task, lost->worker});
      } else if (const auto* lease = std::get_if<Lease>(&decision)) {
        for (const auto& task : lease->tasks) leased(*lease, task);
      } else if (const auto* cancel = std::get_if<Cancel>(&decision)) {
        for (const auto& task : cancel->tasks) {
          send(number_of(cancel->worker), [this, number = number_of(cancel->worker), task] {
            std::erase_if(peers_[number].queue, [&](const Assignment& each) {
              return each.task == task.task && each.attempt == task.attempt;
            });
          });
        }
      } else if (const auto* worker = std::get_if<WorkerLost>(&decision)) {
        gone(number_of(worker->worker));
      } else if (const auto* estimated = std::get_if<Estimated>(&decision)) {
        books_.at(estimated->job).task_price =
            task_price(estimated->estimate, books_.at(estimated->job).spec.tasks);
      } else if (const auto* failed = std::get_if<JobFailed>(&decision)) {
        if (!ended_.contains(failed->job)) end(failed->job, false);
      } else if (const auto* starved = std::get_if<NoWorkerLeft>(&decision)) {
        judge(trust_.give_up(starved->task));
      }
    }
  }
  void leased(const Lease& lease, const protocol::LeasedTask& task) {
    const TaskId id{lease.job, task.index};
    if (ended_.contains(lease.job)) return;
    const JobBook& book = books_.at(lease.job);
    EXPECT_FALSE(book.accepted.contains(task.index)) << where() << ": a settled task is leased";
    EXPECT_TRUE(leases_[id].insert(lease.worker).second)
        << where() << ": a worker holds a task twice";
    EXPECT_FALSE(counted_[id].contains(lease.worker))
        << where() << ": a worker gets a second replica";
    // A late task may have one more copy.
    EXPECT_LE(leases_[id].size() + counted_[id].size(),
              std::max(book.spec.replicas, wanted_[id]) + 1)
        << where() << ": more replicas than wanted";
    const std::uint64_t number = number_of(lease.worker);
    if (peers_.at(number).info.sharing == Sharing::sliced) {
      std::uint64_t held = 0;
      for (const auto& [each, workers] : leases_) {
        // A task that only waits for its receipt has been computed and holds no memory.
        if (workers.contains(lease.worker) && !reported_.contains({each, lease.worker}))
          held += books_.at(each.job).spec.requirements.memory_bytes;
      }
      EXPECT_LE(held, peers_.at(number).info.capabilities.memory_bytes)
          << where() << ": more memory than the worker has";
    }
    send(number, [this, number, given = Assignment{id, task.attempt, task.count}] {
      Peer& peer = peers_[number];
      if (!std::ranges::contains(peer.queue, given)) peer.queue.push_back(given);
      work_on(number);
    });
  }
  std::uint64_t number_of(const PublicKey& key) const {
    std::uint64_t number = 0;
    std::memcpy(&number, key.bytes.data(), sizeof number);
    return number;
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  Instant time_ = at(0);
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t next_event_ = 0;
  Scheduler scheduler_;
  trust::Trust trust_;
  ledger::Ledger ledger_;
  OwnerId client_;
  std::map<std::uint64_t, Peer> peers_;
  std::map<JobId, JobBook> books_;
  std::map<TaskId, std::set<PublicKey>> leases_;
  std::map<TaskId, std::set<PublicKey>> counted_;
  std::map<TaskId, std::uint32_t> wanted_;
  std::set<std::pair<TaskId, PublicKey>> reported_;
  std::set<JobId> ended_;
  std::size_t submitted_ = 0;
  std::size_t pending_submissions_ = 0;
  std::size_t done_ = 0;
};

TEST(Simulation, EveryJobEndsAndEveryRuleHoldsWhateverTheNetworkDoes) {
  const std::uint64_t seeds = weft::test::long_tests() ? 5000 : 200;
  std::size_t done = 0;
  std::size_t failed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Simulation simulation(seed);
    simulation.run();
    done += simulation.done();
    failed += simulation.failed();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(done, 2 * seeds) << "most jobs come through";
  EXPECT_GT(failed, 0U) << "and the trouble is real";
}

}  // namespace
}  // namespace weft::scheduler
