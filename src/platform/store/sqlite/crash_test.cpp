// A process that is killed at any moment loses nothing that it acknowledged, and pays nothing
// twice. A child commits jobs, tasks and payments through the group commit and reports each
// acknowledged job and task on a pipe; the parent kills it. WEFT_LONG=1 kills 1,000 times instead
// of 10.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <random>
#include <unistd.h>

#include <sys/wait.h>

#include "common/base/check.h"
#include "common/base/long_tests.h"
#include "platform/store/group_commit.h"
#include "platform/store/sqlite/sqlite_store.h"
#include "platform/store/sqlite/test_crash_load.h"

namespace weft::store::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr int unacknowledged_max = 256;

// Runs in the child and never returns.
[[noreturn]] void work(const fs::path& path, std::uint32_t first_job, int pipe) {
  auto store = open(path);
  if (!store) ::_exit(2);
  CrashLoad load(first_job, store.value()->load().value());
  GroupCommit commits(**store, {});
  std::atomic<int> unacknowledged = 0;
  for (;;) {
    // Keeps below the queue's bound, however slow the disk or busy the machine.
    while (unacknowledged.load() >= unacknowledged_max) ::usleep(50);
    ++unacknowledged;
    Acknowledged what;
    Batch batch = load.next(what);
    const auto taken =
        commits.submit(std::move(batch), [pipe, what, &unacknowledged](const Result<>& result) {
          if (!result || ::write(pipe, &what, sizeof what) != sizeof what) ::_exit(4);
          --unacknowledged;
        });
    if (!taken) ::_exit(6);
  }
}

class Crash : public testing::Test {
 protected:
  ~Crash() override { fs::remove_all(directory_); }

  // Kills the process of one store `rounds` times.
  void kill_again_and_again(int rounds, std::uint64_t seed) {
    fs::remove_all(directory_);
    std::string name = (fs::temp_directory_path() / "weft-crash-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    const fs::path path = directory_ / "weft.db";
    std::mt19937_64 random(seed);
    AcknowledgedSet acknowledged;
    std::uint32_t next_job = 1;

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
      // The child is killed after a random number of acknowledgements, shortly after the last one
      // that is read here.
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
      ASSERT_TRUE(WIFSIGNALED(status))
          << "round " << round << ": the child ended by itself with " << WEXITSTATUS(status);
      while (::read(ends[0], &what, sizeof what) == sizeof what)
        acknowledged[what.job].insert(what.task);
      ::close(ends[0]);
      ASSERT_EQ(news, until) << "round " << round;

      const auto store = open(path).value();
      ASSERT_EQ(CrashLoad::judge(*store, acknowledged, next_job), "")
          << "seed " << seed << ", round " << round;
    }
  }

 private:
  fs::path directory_;
};

TEST_F(Crash, LosesNothingAcknowledgedAndPaysNothingTwice) {
  const int stores = weft::test::long_tests()
                         ? 100
                         : 1;  // 100 rounds of 10 kills, because judge() reads all rows of a store.

  for (int store = 0; store < stores && !HasFatalFailure(); ++store)
    kill_again_and_again(10, 20240607 + static_cast<std::uint64_t>(store));
}

}  // namespace
}  // namespace weft::store::sqlite
