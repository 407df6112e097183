// The coordinator as a real process with a real disk and real sockets, killed with SIGKILL at
// random points of running jobs. After each restart every accepted job ends with the right bytes,
// no task is paid twice, and the ledger sums to zero. WEFT_LONG=1 kills the process 1,000 times
// instead of 10. The scripted workers reconnect, and one of them cheats.
#include <gtest/gtest.h>

#include "apps/coordinator/test_folder.h"
#include "apps/coordinator/test_process.h"
#include "common/base/long_tests.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator {
namespace {

TEST_F(ProcessTest, KilledAtRandomPointsItLosesNoJobAndPaysNoTaskTwice) {
  const bool longer = weft::test::long_tests();
  const int kills = longer ? 1000 : 10;
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::minstd_rand random(seed);
  constexpr std::uint32_t tasks = 40;
  std::vector<std::unique_ptr<ScriptedWorker>> workers;
  for (const jobs::Behaviour& behaviour :
       {jobs::Behaviour{}, jobs::Behaviour{.doubled = true}, jobs::Behaviour{.receipt_first = true},
        jobs::Behaviour{.wrong_byte = true}}) {
    workers.push_back(std::make_unique<ScriptedWorker>(
        process_->url(), behaviour, static_cast<std::uint32_t>(random()),
        crypto::KeyPair::generate().value(), 4, !behaviour.wrong_byte));
  }
  std::vector<std::string> jobs;
  std::uint64_t nonce = 0;
  int killed_running = 0;

  // All kills of a short run may fall between jobs if the machine is fast. The run then continues
  // until a kill hits a running job.
  for (int killed = 0; killed < kills || (killed_running == 0 && killed < 10 * kills); ++killed) {
    if (jobs.empty() || finished_already(jobs.back()))
      jobs.push_back(submitted(jobs::count_manifest(tasks, 2, "", 9), ++nonce));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    killed_running += finished_already(jobs.back()) ? 0 : 1;
    process_->kill();
    process_->start();
  }

  for (const auto& job : jobs) expect_settled(job, tasks);
  EXPECT_GT(killed_running, 0) << "some of the kills must meet a running job";
  const auto ledger = view<api::Ledger>("/v1/ledger");
  EXPECT_EQ(ledger.sum, 0);
  MicroCredits sum = 0;
  for (const auto& balance : ledger.balances) sum += balance.amount;
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(std::ranges::count_if(ledger.balances,
                                  [&](const api::Balance& balance) {
                                    return balance.account.ends_with(workers.back()->key());
                                  }),
            0)
      << "the cheat has earned nothing, and nothing is held for it";
  workers.clear();
  process_->kill();
  EXPECT_TRUE(store::sqlite::open(folder_ / "weft.db").value()->audit().has_value());
}

}  // namespace
}  // namespace weft::coordinator

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--coordinator")
    return weft::coordinator::serve_for_test(argv[2], argv[3]);
  if (argc == 5 && std::string_view(argv[1]) == "--fill-folder")
    return weft::coordinator::fill_folder(argv[2], argv[3], argv[4]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
