// The coordinator's core on a machine that may lose power at any moment. Clients submit and repeat
// submissions, workers (one cheats, one sends everything twice) deliver results and are paid, and
// the disk drops or tears unsynced data. Everything that a client was told stays true: no
// acknowledged job is lost, no task is settled or paid twice, the ledger sums to zero, and in the
// end every accepted job is done with the right bytes. WEFT_LONG=1 cuts the power 1,000 times
// instead of 10. A control without syncing must find losses.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>

#include "apps/coordinator/test_network.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/base/long_tests.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/accounts.h"
#include "platform/store/faulty/faulty_disk.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator {
namespace {

namespace fs = std::filesystem;
using store::faulty::FaultyDisk;

// Simulates the loss of unsynced data in the packs of blobs. After a power cut only a part of the
// bytes since the last sync remains, and some of it is torn.
class PackTails {
 public:
  explicit PackTails(fs::path folder) : folder_(std::move(folder)) {}

  void synced() {
    each([&](const fs::path& file) { durable_[file] = fs::file_size(file); });
  }
  void lose(std::mt19937_64& random) {
    each([&](const fs::path& file) {
      const std::uintmax_t size = fs::file_size(file);
      const std::uintmax_t kept = std::min(durable_[file], size);
      if (kept == size) return;
      const std::uintmax_t end = kept + random() % (size - kept + 1);
      fs::resize_file(file, end);
      ++lost;
      if (end == kept || random() % 2 == 0) return;
      std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(static_cast<std::streamoff>(kept + random() % (end - kept)));
      bytes.put(static_cast<char>(random()));
    });
  }
  int lost = 0;

 private:
  void each(const std::function<void(const fs::path&)>& use) const {
    if (!fs::exists(folder_)) return;
    for (const auto& entry : fs::directory_iterator(folder_)) use(entry.path());
  }

  const fs::path folder_;
  std::map<fs::path, std::uintmax_t> durable_;
};

class Machine {
 public:
  Machine(std::uint64_t seed, bool synchronous)
      : random_(seed),
        disk_("faulty-core", seed),
        synchronous_(synchronous),
        network_([this] { return open(); }),
        tails_(network_.folder() / "pack") {
    for (auto& key : workers_)
      key = std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value());
    for (auto& key : clients_)
      key = std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value());
    set_log_level(LogLevel::error);
    network_.commit_fails = [this](const Error&) { off_ = true; };
    network_.start_fails = [this](const Error& error) { damage_ = error.message; };
    network_.before_commit = [this] {
      // The power may also be cut while the packs are synced.
      if (working_ && !disk_.power_is_off() && random_() % 80 == 0) disk_.cut_power_after(0);
      if (!disk_.power_is_off() && network_.blobs().sync()) tails_.synced();
    };
  }

  // Works until the power is cut and restored. Returns what is wrong after that, or an empty text.
  std::string work_until_the_power_goes() {
    off_ = false;
    disk_.cut_power_after(
        1 + random_() % (random_() % 4 == 0 ? 30 : 600),
        random_() % 5 == 0 ? FaultyDisk::Counting::database : FaultyDisk::Counting::everything);
    working_ = true;
    work();
    working_ = false;
    network_.hold_commits = false;
    remember_what_workers_heard();
    try_again_at_start_ = random_() % 3 == 0;
    network_.restart_machine([this] {
      disk_.restart();
      tails_.lose(random_);
    });
    return judge();
  }
  // Works without power cuts until every accepted job has ended. Returns what is wrong at the end,
  // or an empty text.
  std::string finish() {
    disk_.cut_power_after(UINT64_MAX);
    network_.merge_commits = false;
    connect_workers();
    for (int step = 0; step < 400 && running() > 0; ++step) {
      for (TestWorker* worker : connected_) worker->say(protocol::Beat{});
      network_.pass(std::chrono::milliseconds(200));
    }
    remember_what_workers_heard();
    if (std::string wrong = judge(); !wrong.empty()) return wrong;
    for (const auto& [id, tasks] : jobs_) {
      const auto row = network_.store().job(id);
      if (!row || row->state != store::JobState::done)
        return weft::format("Job {} is {}: {}", id.text(), row ? to_string(row->state) : "lost",
                            row ? row->reason : row.error().message);
      ByteVector expected;
      for (std::uint32_t i = 0; i < tasks * 4; ++i) append_le(expected, i);
      if (network_.output(*row) != expected)
        return weft::format("Job {} has other bytes than it should.", id.text());
      if (network_.balance(ledger::Account::escrow(id)) != 0)
        return weft::format("The escrow of {} is not empty.", id.text());
    }
    if (network_.balance(
            ledger::Account::owner(OwnerId::of_first(workers_[cheat]->public_key()))) != 0)
      return "The cheat has earned something.";
    return "";
  }

  [[nodiscard]] std::size_t jobs() const { return jobs_.size(); }
  [[nodiscard]] std::size_t verdicts() const { return paid_.size(); }
  [[nodiscard]] int tails_lost() const { return tails_.lost; }
  FaultyDisk::Counts disk() { return disk_.counts(); }

 private:
  static constexpr std::size_t cheat = 3;

  std::unique_ptr<store::Store> open() {
    const fs::path path = folder_.path() / "weft.db";
    const store::sqlite::Options options{
        .synchronous = synchronous_, .vfs = "faulty-core", .pages_max = 0};
    // Sometimes the power is cut again while the store recovers.
    if (std::exchange(try_again_at_start_, false)) {
      disk_.cut_power_after(1 + random_() % 30);
      if (auto tried = store::sqlite::open(path, options)) (void)(*tried)->load();
      disk_.restart();
    }
    auto opened = store::sqlite::open(path, options);
    if (opened) return std::move(*opened);
    damage_ = opened.error().message;
    return store::memory::create();
  }

  void connect_workers() {
    connected_.clear();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const jobs::Behaviour behaviour = i == 1       ? jobs::Behaviour{.doubled = true}
                                        : i == 2     ? jobs::Behaviour{.receipt_first = true}
                                        : i == cheat ? jobs::Behaviour{.wrong_byte = true}
                                                     : jobs::Behaviour{};
      TestWorker& worker = network_.connect(*workers_[i], behaviour);
      worker.connect();
      connected_.push_back(&worker);
    }
    network_.run();
    // Workers report the tasks that they held before and deliver them again; the results may be
    // wanted, or settled already.
    for (std::size_t i = 0; i < connected_.size(); ++i) {
      auto held = std::exchange(held_[i], {});
      if (held.empty()) continue;
      protocol::Resume resume;
      for (const auto& [lease, task] : held) resume.held.push_back(held_of(lease, task));
      connected_[i]->say(resume);
      network_.run();
      for (const auto& [lease, task] : held) connected_[i]->deliver(lease, task);
    }
    network_.run();
  }

  void work() {
    network_.merge_commits = random_() % 2 == 0;
    connect_workers();
    for (int step = 0; step < 400 && !off_ && !disk_.power_is_off(); ++step) {
      network_.hold_commits = random_() % 3 == 0;
      if (running() < 6) submit();
      for (TestWorker* worker : connected_) {
        if (random_() % 4 == 0) worker->say(protocol::Beat{});
      }
      network_.pass(std::chrono::milliseconds(random_() % 200));
    }
  }

  // Submits a new job, or repeats a submission that has no reply.
  void submit() {
    if (!unanswered_.empty() && random_() % 2 == 0) {
      const Asked again = unanswered_.begin()->second;
      return ask(unanswered_.begin()->first, again);
    }
    const std::uint64_t number = next_number_++;
    ask(number, {.client = random_() % clients_.size(),
                 .tasks = static_cast<std::uint32_t>(1 + random_() % 6)});
  }
  struct Asked {
    std::size_t client = 0;
    std::uint32_t tasks = 0;
  };
  void ask(std::uint64_t number, Asked asked) {
    unanswered_[number] = asked;
    store::SubmitNonce nonce{};
    std::memcpy(nonce.data(), &number, sizeof number);
    network_.post_submission(*clients_[asked.client], jobs::count_manifest(asked.tasks, 2, "", 9),
                             nonce,
                             [this, number, asked](const Result<protocol::api::Submitted>& answer) {
                               if (!answer) return;
                               const JobId id = JobId::parse(answer->id).value();
                               if (const auto [known, is_new] = job_of_.emplace(number, id);
                                   !is_new && known->second != id)
                                 twice_ = id;
                               jobs_[id] = asked.tasks;
                               unanswered_.erase(number);
                             });
  }
  std::size_t running() {
    const auto loaded = network_.store().load();
    return loaded ? loaded->jobs.size() : 0;
  }

  void remember_what_workers_heard() {
    for (std::size_t i = 0; i < connected_.size(); ++i) {
      const TestWorker& worker = *connected_[i];
      std::set<std::pair<TaskId, std::uint32_t>> over;
      for (const auto& verdict : worker.verdicts) {
        over.emplace(verdict.task, verdict.attempt);
        if (verdict.accepted) paid_[{verdict.task, workers_[i]->public_key()}] = verdict.paid;
      }
      for (const auto& cancel : worker.cancels) {
        for (const auto& task : cancel.tasks) over.emplace(task.task, task.attempt);
      }
      for (const auto& lease : worker.leases) {
        for (const auto& task : lease.tasks) {
          if (!over.contains({TaskId{.job = lease.job, .index = task.index}, task.attempt}))
            held_[i].emplace_back(lease, task);
        }
      }
    }
    connected_.clear();
  }

  // Compares everything that clients and workers were told with the stored rows.
  std::string judge() {
    store::Store& store = network_.store();
    if (!damage_.empty()) return "What was stored is lost: " + damage_;
    if (twice_)
      return weft::format("One submission gave two jobs, one of them {}.", twice_->text());
    if (const auto audit = store.audit(); !audit) return audit.error().message;
    if (network_.core().accounts().ledger().sum() != 0) return "The balances do not sum to zero.";
    for (const auto& [id, tasks] : jobs_) {
      if (!store.job(id)) return weft::format("Job {} was acknowledged and is lost.", id.text());
    }
    const auto all = store.jobs({.client = {}, .before = 0, .count = 1'000'000});
    if (!all) return all.error().message;
    std::map<std::pair<TaskId, PublicKey>, MicroCredits> stored;  // Pay by task and worker.
    std::set<TaskId> settled;
    for (const auto& job : *all) {
      const auto history = store.history(job.id, {.from = 0, .count = 1'000'000});
      const auto tasks = store.tasks(job.id);
      if (!history || !tasks) return "The history of a job cannot be read.";
      std::set<std::string> pays;
      for (const auto& posted : history->transactions) {
        if (posted.key.starts_with("pay:") && !pays.insert(posted.key).second)
          return posted.key + " was paid twice.";
      }
      if (pays.size() != tasks->size())
        return weft::format("Of job {} {} tasks are settled and {} paid.", job.id.text(),
                            tasks->size(), pays.size());
      for (const auto& task : *tasks) {
        settled.insert(task.id);
        const std::string key = "pay:" + task.id.text();
        if (!pays.contains(key))
          return weft::format("Task {} is settled and not paid.", task.id.text());
        for (const auto& output : task.outputs) {
          if (const auto bytes = network_.blobs().read(output.hash); !bytes)
            return weft::format("The bytes of {} are lost: {}", task.id.text(),
                                bytes.error().message);
        }
        for (const auto& posted : history->transactions) {
          if (posted.key != key) continue;
          for (const auto& movement : posted.movements) {
            if (movement.account.kind == ledger::Account::Kind::owner)
              stored[{task.id, PublicKey{{movement.account.id}}}] = movement.amount;
          }
        }
      }
    }
    for (const auto& [what, amount] : paid_) {
      const auto found = stored.find(what);
      if (amount == 0 && settled.contains(what.first))
        continue;  // A correct result that came too late.
      if (found == stored.end())
        return weft::format("Task {} was said to be accepted and is lost.", what.first.text());
      if (found->second != amount)
        return weft::format("Task {} was said to be paid {}, not {}.", what.first.text(), amount,
                            found->second);
    }
    return "";
  }

  std::mt19937_64 random_;
  TestFolder folder_;
  FaultyDisk disk_;
  const bool synchronous_;
  bool try_again_at_start_ = false;
  bool off_ = false;
  bool working_ = false;
  TestNetwork network_;
  PackTails tails_;
  std::array<std::unique_ptr<crypto::KeyPair>, 5> workers_;
  std::array<std::unique_ptr<crypto::KeyPair>, 2> clients_;
  std::vector<TestWorker*> connected_;
  std::array<std::vector<std::pair<protocol::Lease, protocol::LeasedTask>>, 5> held_;
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, Asked> unanswered_;  // Keyed by the number in the nonce.
  std::map<std::uint64_t, JobId> job_of_;
  std::map<JobId, std::uint32_t> jobs_;  // Number of tasks by acknowledged job.
  std::map<std::pair<TaskId, PublicKey>, MicroCredits> paid_;  // Pay that workers were told.
  std::optional<JobId> twice_;
  std::string damage_;
};

TEST(CorePower, WhatWasToldIsStillSoAtWhateverPointThePowerIsCut) {
  const bool longer = weft::test::long_tests();
  const int machines = longer ? 200 : 2;
  constexpr int cuts = 5;  // Power cuts of one machine, whose whole history is checked.
  std::size_t jobs = 0, verdicts = 0;
  int tails = 0;
  FaultyDisk::Counts total;

  for (int machine = 0; machine < machines; ++machine) {
    Machine under_test(static_cast<std::uint64_t>(machine), true);
    for (int cut = 0; cut < cuts; ++cut) {
      ASSERT_EQ(under_test.work_until_the_power_goes(), "")
          << "seed " << machine << ", cut " << cut;
    }
    ASSERT_EQ(under_test.finish(), "") << "seed " << machine;
    jobs += under_test.jobs();
    verdicts += under_test.verdicts();
    tails += under_test.tails_lost();
    const auto disk = under_test.disk();
    total.writes_lost += disk.writes_lost;
    total.writes_torn += disk.writes_torn;
    total.cuts_in_log += disk.cuts_in_log;
    total.cuts_in_database += disk.cuts_in_database;
  }

  EXPECT_GT(jobs, 10U);
  EXPECT_GT(verdicts, 50U);
  EXPECT_GT(total.writes_lost + total.writes_torn, 10U) << "the cuts have cost something";
  if (longer) {
    EXPECT_GT(tails, 0) << "of the packs, too";
  }
  RecordProperty("cuts", machines * cuts);
  RecordProperty("jobs", std::to_string(jobs));
  RecordProperty("verdicts", std::to_string(verdicts));
  std::printf(
      "%d cuts (%zu in the log, %zu in a checkpoint), %zu writes lost, %zu torn, %d packs cut; %zu "
      "jobs taken, %zu verdicts heard\n",
      machines * cuts, static_cast<std::size_t>(total.cuts_in_log),
      static_cast<std::size_t>(total.cuts_in_database), static_cast<std::size_t>(total.writes_lost),
      static_cast<std::size_t>(total.writes_torn), tails, jobs, verdicts);
}

TEST(CorePower, LosesWhatItAcknowledgedWhereSyncingIsOff) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Machine machine(seed, false);
    const std::string wrong = machine.work_until_the_power_goes();
    lost += wrong.find("is lost") != std::string::npos ? 1 : 0;
  }

  EXPECT_GT(lost, 0) << "a harness that cannot fail shows nothing";
}

}  // namespace
}  // namespace weft::coordinator
