// A machine whose power goes at any moment has lost nothing that was acknowledged: unsynced writes are dropped or torn at
// random. The same harness finds losses when syncing is off, which shows that it can.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/base/check.h"
#include "service/store/group_commit.h"
#include "service/store/sqlite/sqlite_store.h"
#include "service/store/sqlite/test_crash_load.h"
#include "service/store/sqlite/test_faulty_disk.h"

namespace weft::store::sqlite {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::string wrong;  // Empty: nothing.
  int round = 0;
  std::size_t acknowledged = 0;
  FaultyDisk::Counts disk;
};

// Power cuts in a row on one disk, until something is wrong.
Outcome cut_power_again_and_again(int rounds, std::uint64_t seed, bool synchronous) {
  std::string name = (fs::temp_directory_path() / "weft-power-XXXXXX").string();
  const fs::path directory = ::mkdtemp(name.data());
  const Options options{.synchronous = synchronous, .vfs = "faulty", .pages_max = 0};
  const fs::path path = directory / "weft.db";
  FaultyDisk disk("faulty", seed);
  std::mt19937_64 random(seed);
  AcknowledgedSet acknowledged;
  std::uint32_t next_job = 1;
  Outcome outcome;

  for (outcome.round = 0; outcome.round < rounds && outcome.wrong.empty(); ++outcome.round) {
    disk.cut_power_after(1 + random() % 3000);
    if (const auto store = open(path, options)) {
      if (const auto loaded = (*store)->load()) {
        CrashLoad load(next_job, *loaded);
        GroupCommit commits(**store, {.wait_max = {}, .queue_max = 16, .group_max = 1 + random() % 16});
        while (!disk.power_is_off()) {
          Acknowledged what;
          Batch batch = load.next(what);
          const auto done = [&acknowledged, &outcome, what](const Result<>& result) {
            if (!result) return;
            acknowledged[what.job].insert(what.task);  // On the writer's thread, which is joined before anybody reads.
            ++outcome.acknowledged;
          };
          while (!disk.power_is_off() && !commits.submit(batch, done)) std::this_thread::yield();
        }
      }
    }
    disk.restart();
    const auto store = open(path, options);
    outcome.wrong = store ? CrashLoad::judge(**store, acknowledged, next_job) : store.error().message;
  }
  outcome.disk = disk.counts();
  fs::remove_all(directory);
  return outcome;
}

TEST(Power, LosesNothingAcknowledgedWhereverItIsCut) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 1000 : 10;
  const Outcome outcome = cut_power_again_and_again(rounds, 7, true);

  EXPECT_EQ(outcome.wrong, "") << "round " << outcome.round << " of seed 7";
  EXPECT_GT(outcome.acknowledged, 100U);
  EXPECT_GT(outcome.disk.writes_lost + outcome.disk.writes_torn, 10U) << "the cuts have cost something";
}

TEST(Power, LosesAcknowledgedWorkWhereSyncingIsOff) {
  const Outcome outcome = cut_power_again_and_again(10, 7, false);

  EXPECT_NE(outcome.wrong, "") << "a harness that cannot fail shows nothing";
}

}  // namespace
}  // namespace weft::store::sqlite
