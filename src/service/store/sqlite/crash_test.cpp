// A process that is killed at any moment has lost nothing that it had acknowledged, and paid nothing twice. A child commits
// jobs, tasks and payments through the group commit and reports each acknowledged one on a pipe; the parent kills it.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <unistd.h>

#include <sys/wait.h>

#include "service/store/group_commit.h"
#include "service/store/sqlite/sqlite_store.h"
#include "service/store/sqlite/test_rows.h"

namespace weft::store::sqlite {
namespace {

namespace fs = std::filesystem;

// What the child says on the pipe once it is durable: this job is submitted, or this task of it is accepted and paid.
struct Acknowledged {
  std::uint32_t job = 0;
  std::int32_t task = -1;  // -1: the job itself.
};
constexpr MicroCredits price = 1000;
constexpr std::uint32_t tasks = 4;
constexpr int unacknowledged_max = 256;

Job big_job(std::uint32_t number) {
  Job job = job_row(number);
  job.client = key_of(1);
  job.tasks = tasks;
  job.budget = price * tasks;
  return job;
}

// Never returns. `first` is the number of its first job; jobs below it are there from earlier rounds.
[[noreturn]] void work(const fs::path& path, std::uint32_t first, int pipe) {
  auto store = open(path);
  if (!store) ::_exit(2);
  ledger::Ledger ledger;
  const Loaded loaded = store.value()->load().value();
  if (!ledger.restore(loaded.balances, loaded.keys)) ::_exit(3);
  GroupCommit commits(**store, {});
  std::atomic<int> unacknowledged = 0;
  const auto send = [&](Batch batch, Acknowledged what) {
    // The queue's bound is never met, however slow the disk or busy the machine.
    while (unacknowledged.load() >= unacknowledged_max) ::usleep(50);
    ++unacknowledged;
    return commits
        .submit(std::move(batch),
                [pipe, what, &unacknowledged](const Result<>& result) {
                  if (!result || ::write(pipe, &what, sizeof what) != sizeof what) ::_exit(4);
                  --unacknowledged;
                })
        .has_value();
  };
  const auto apply = [&](Batch& batch, ledger::Transaction transaction) {
    const auto applied = ledger.apply(transaction);
    if (!applied) ::_exit(5);
    if (*applied == ledger::Applied::now) batch.transactions.push_back({.transaction = std::move(transaction), .time = 1});
  };
  for (std::uint32_t number = first;; ++number) {
    const Job job = big_job(number);
    Batch submit;
    submit.jobs.push_back(job);
    submit.nonces.push_back({.client = job.client, .nonce = nonce_of(number), .job = job.id});
    apply(submit, ledger::grant(job.client, MicroCredits{1} << 50));
    apply(submit, ledger::open_escrow(job.id, job.client, job.budget));
    if (!send(std::move(submit), {.job = number})) ::_exit(6);
    for (std::uint32_t index = 0; index < tasks; ++index) {
      Batch accept;
      accept.replicas = {replica_row(job, index, 7), replica_row(job, index, 8)};
      accept.tasks = {task_row(job, index)};
      apply(accept,
            ledger::pay_task({.task = {job.id, index}, .client = job.client, .price = price, .replicas = 2}, std::vector{key_of(7), key_of(8)}));
      if (!send(std::move(accept), {.job = number, .task = static_cast<std::int32_t>(index)})) ::_exit(7);
    }
  }
}

TEST(Crash, LosesNothingAcknowledgedAndPaysNothingTwice) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 100 : 10;
  std::string name = (fs::temp_directory_path() / "weft-crash-XXXXXX").string();
  const fs::path directory = ::mkdtemp(name.data());
  const fs::path path = directory / "weft.db";
  std::mt19937_64 random(20240607);
  std::map<std::uint32_t, std::set<std::int32_t>> acknowledged;  // By job; -1 stands for the job.
  std::uint32_t next_job = 1;
  std::size_t news_total = 0;

  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      work(path, next_job, ends[1]);
    }
    ::close(ends[1]);
    // Killed after a random number of acknowledgements, and a moment later than the last that is read here.
    const std::size_t until = 1 + random() % 600;
    std::size_t news = 0;
    Acknowledged what;
    while (news < until && ::read(ends[0], &what, sizeof what) == sizeof what) {
      acknowledged[what.job].insert(what.task);
      ++news;
    }
    ::usleep(static_cast<useconds_t>(random() % 3000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << ": the child ended by itself with " << WEXITSTATUS(status);
    while (::read(ends[0], &what, sizeof what) == sizeof what) {
      acknowledged[what.job].insert(what.task);
      ++news;
    }
    ::close(ends[0]);
    news_total += news;
    ASSERT_EQ(news >= until, true) << "round " << round;

    const auto store = open(path).value();
    const Result<> audit = store->audit();
    ASSERT_TRUE(audit.has_value()) << "round " << round << ": " << audit.error().message;
    const Loaded loaded = store->load().value();
    ledger::Ledger ledger;
    ASSERT_TRUE(ledger.restore(loaded.balances, loaded.keys).has_value()) << "round " << round;
    std::map<JobId, std::set<std::int32_t>> stored;
    for (const Job& job : loaded.jobs) stored[job.id].insert(-1);
    for (const Task& task : loaded.tasks) stored[task.id.job].insert(static_cast<std::int32_t>(task.id.index));
    for (const auto& [job, parts] : acknowledged) {
      for (const std::int32_t part : parts) {
        ASSERT_TRUE(stored[job_id_of(job)].contains(part))
            << "round " << round << ": job " << job << ", task " << part << " was acknowledged and is lost";
      }
    }
    // Every accepted task is paid once, and nothing else is.
    ASSERT_EQ(ledger.balance(ledger::Account::worker(key_of(7))), static_cast<MicroCredits>(loaded.tasks.size()) * price / 2) << "round " << round;
    ASSERT_EQ(ledger.balance(ledger::Account::worker(key_of(8))), static_cast<MicroCredits>(loaded.tasks.size()) * price / 2) << "round " << round;
    ASSERT_EQ(ledger.sum(), 0) << "round " << round;
    for (const Job& job : loaded.jobs) {
      ASSERT_EQ(ledger.balance(ledger::Account::escrow(job.id)), job.budget - price * job.accepted) << "round " << round;
      next_job = std::max(next_job, static_cast<std::uint32_t>(job.id.bytes[0] | job.id.bytes[1] << 8 | job.id.bytes[2] << 16) + 1);
    }
  }
  EXPECT_GT(news_total, static_cast<std::size_t>(rounds));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace weft::store::sqlite
