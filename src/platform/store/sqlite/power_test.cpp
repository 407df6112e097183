// A machine whose power is cut at any moment loses nothing that was acknowledged: unsynced writes
// are dropped or torn at random, and the power is cut again while the store recovers. WEFT_LONG=1
// cuts the power 1,000 times instead of 10. To show that the test can fail, it finds losses when
// syncing is off, and judge() detects states that must never occur.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "platform/store/faulty/faulty_disk.h"
#include "platform/store/group_commit.h"
#include "platform/store/memory/memory_store.h"
#include "platform/store/sqlite/sqlite_store.h"
#include "platform/store/sqlite/test_crash_load.h"

namespace weft::store::sqlite {
namespace {

namespace fs = std::filesystem;
using faulty::FaultyDisk;

// A machine with one disk. It accepts, runs and pays jobs until the power is cut, again and again.
class Machine {
 public:
  Machine(std::uint64_t seed, bool synchronous)
      : random_(seed),
        disk_("faulty", seed),
        options_{.synchronous = synchronous, .vfs = "faulty", .pages_max = 0} {
    std::string name = (fs::temp_directory_path() / "weft-power-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~Machine() { fs::remove_all(directory_); }

  // Works until the power is cut. Returns a description of an error found afterwards, or an empty
  // text.
  std::string work_until_the_power_goes() {
    // Some cuts come soon, while files are created. Some cuts come in a checkpoint, which is a
    // small part of all operations. The other cuts come at any time.
    switch (random_() % 4) {
      case 0:
        disk_.cut_power_after(1 + random_() % 20);
        break;
      case 1:
        disk_.cut_power_after(1 + random_() % 100, FaultyDisk::Counting::database);
        break;
      default:
        disk_.cut_power_after(1 + random_() % 3000);
    }
    work();
    disk_.restart();
    while (random_() % 3 == 0) {  // The power is cut again during the recovery.
      disk_.cut_power_after(1 + random_() % 30);
      if (const auto store = open(path(), options_)) (void)(*store)->load();
      disk_.restart();
    }
    const auto store = open(path(), options_);
    return store ? CrashLoad::judge(**store, acknowledged_, next_job_) : store.error().message;
  }

  [[nodiscard]] std::size_t acknowledged() const { return acknowledged_count_; }
  [[nodiscard]] FaultyDisk::Counts disk() { return disk_.counts(); }

 private:
  [[nodiscard]] fs::path path() const { return directory_ / "weft.db"; }

  void work() {
    const auto store = open(path(), options_);
    if (!store) return;
    const auto loaded = (*store)->load();
    if (!loaded) return;
    CrashLoad load(next_job_, *loaded);
    GroupCommit commits(**store,
                        {.wait_max = {}, .queue_max = 64, .group_max = 1 + random_() % 16});
    while (!disk_.power_is_off()) {
      Acknowledged what;
      const Batch batch = load.next(what);
      const auto done = [this, what](const Result<>& result) {
        if (!result) return;
        acknowledged_[what.job].insert(
            what.task);  // Called on the writer's thread, which is joined before the set is read.
        ++acknowledged_count_;
      };
      while (!disk_.power_is_off() && !commits.submit(batch, done)) std::this_thread::yield();
    }
  }

  std::mt19937_64 random_;
  FaultyDisk disk_;
  const Options options_;
  fs::path directory_;
  AcknowledgedSet acknowledged_;
  std::size_t acknowledged_count_ = 0;
  std::uint32_t next_job_ = 1;
};

TEST(Power, LosesNothingAcknowledgedWhereverItIsCut) {
  const bool longer = weft::test::long_tests();
  const int machines = longer ? 100 : 1;
  constexpr int cuts = 10;  // Cuts for each machine; judge() reads all its rows each time.
  std::size_t acknowledged = 0;
  FaultyDisk::Counts total;

  for (int machine = 0; machine < machines; ++machine) {
    Machine under_test(static_cast<std::uint64_t>(machine), true);
    for (int cut = 0; cut < cuts; ++cut) {
      ASSERT_EQ(under_test.work_until_the_power_goes(), "")
          << "seed " << machine << ", cut " << cut;
    }
    acknowledged += under_test.acknowledged();
    const FaultyDisk::Counts disk = under_test.disk();
    total.writes_lost += disk.writes_lost;
    total.writes_torn += disk.writes_torn;
    total.files_lost += disk.files_lost;
    total.files_back += disk.files_back;
    total.cuts_in_log += disk.cuts_in_log;
    total.cuts_in_database += disk.cuts_in_database;
  }

  EXPECT_GT(acknowledged, 100U);
  EXPECT_GT(total.writes_lost + total.writes_torn, 10U) << "the cuts have cost something";
  if (!longer) return;
  EXPECT_GT(total.cuts_in_log, 250U);
  EXPECT_GT(total.cuts_in_database, 100U);
  EXPECT_GT(total.files_lost, 0U);
  EXPECT_GT(total.files_back, 0U);
  RecordProperty("acknowledged", std::to_string(acknowledged));
}

TEST(Power, LosesAcknowledgedWorkWhereSyncingIsOff) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Machine machine(seed, false);
    lost += machine.work_until_the_power_goes().find("was acknowledged and is lost") !=
                    std::string::npos
                ? 1
                : 0;
  }

  EXPECT_GT(lost, 0) << "a harness that cannot fail shows nothing";
}

// Returns the verdict of judge() on a store in which one job of one task was accepted and paid
// before `more` was committed.
std::string verdict_after(const Batch& more, const AcknowledgedSet& acknowledged) {
  const auto store = memory::create();
  CrashLoad load(1, store->load().value());
  for (int i = 0; i < 2; ++i) {
    Acknowledged what;
    EXPECT_TRUE(store->commit(load.next(what)).has_value());
  }
  EXPECT_TRUE(store->commit(more).has_value());
  std::uint32_t next_job = 1;
  return CrashLoad::judge(*store, acknowledged, next_job);
}

TEST(Power, TheJudgeSeesALostTaskAndOneThatIsPaidTwice) {
  const AcknowledgedSet right{{1, {-1, 0}}};
  Batch again;
  again.transactions.push_back(
      {.transaction = ledger::pay_task({.task = {job_id_of(1), 0},
                                        .client = owner_of(key_of(1)),
                                        .price = CrashLoad::price,
                                        .replicas = 2},
                                       std::vector{owner_of(key_of(7)), owner_of(key_of(8))},
                                       {.free = CrashLoad::price}),
       .time = 2});
  again.transactions.front().transaction.key += " again";

  EXPECT_EQ(verdict_after({}, right), "");
  EXPECT_NE(verdict_after({}, {{1, {-1, 0, 1}}}).find("task 1 was acknowledged and is lost"),
            std::string::npos);
  EXPECT_NE(verdict_after({}, {{2, {-1}}}).find("Job 2"), std::string::npos);
  EXPECT_EQ(verdict_after(again, right),
            weft::format("Worker {} has {} for 1 accepted tasks.", 7, CrashLoad::price));
}

}  // namespace
}  // namespace weft::store::sqlite
