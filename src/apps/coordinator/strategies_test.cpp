// Strategies of strangers over real sockets, against a coordinator as a separate process. Each is
// played twice: with levels of workers and the coordinator's verifier, and with levels ignored,
// where it succeeds.
#include <gtest/gtest.h>

#include "apps/coordinator/test_process.h"

namespace weft::coordinator {
namespace {

class Strategies : public ProcessTest {
 protected:
  static constexpr std::uint32_t tasks = 24;

  void SetUp() override {}
  void TearDown() override {
    workers_.clear();
    ProcessTest::TearDown();
  }
  void open(bool heads = false) {
    if (process_) {
      workers_.clear();
      ProcessTest::TearDown();
    }
    std::optional<CountingHeads> counting;
    if (heads) counting.emplace();
    ProcessTest::SetUp();
  }
  void join(std::size_t count, const jobs::Behaviour& behaviour, bool invited = false) {
    const std::size_t before = workers_.size();
    for (std::size_t i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<ScriptedWorker>(
          process_->url(), behaviour, static_cast<std::uint32_t>(++seed_),
          crypto::KeyPair::generate().value(), 4, invited));
    }
    const Instant give_up = now() + 60s;
    while (std::ranges::any_of(workers_, [](const auto& worker) { return !worker->joined(); }) &&
           now() < give_up)
      std::this_thread::sleep_for(10ms);
    for (std::size_t i = before; i < workers_.size(); ++i) EXPECT_TRUE(workers_[i]->joined());
  }
  std::string run(const std::string& manifest) { return submitted(manifest, ++nonce_); }
  std::size_t wrong_tasks(const std::string& id) {
    const auto job = finished(id);
    EXPECT_EQ(job.state, "done") << job.reason;
    if (job.state != "done") return tasks;
    const std::string bytes = read("/v1/jobs/" + id + "/outputs/0").body;
    std::size_t wrong = 0;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      ByteVector right;
      for (std::uint32_t i = task * 4; i < (task + 1) * 4; ++i) append_le(right, i);
      wrong += bytes.substr(std::size_t{task} * 16, 16) == as_text(right) ? 0 : 1;
    }
    return wrong;
  }
  // Number of accepted results of the worker with index `number`.
  std::uint64_t accepted(std::size_t number) {
    const auto all = view<api::Workers>("/v1/workers").workers;
    const auto its = std::ranges::find(all, workers_.at(number)->key(), &api::Worker::key);
    return its == all.end() ? 0 : its->accepted;
  }

  static ByteVector zeros_for(const protocol::LeasedTask& task) {
    return ByteVector(std::size_t{4} * task.count);
  }

  std::vector<std::unique_ptr<ScriptedWorker>> workers_;
  std::uint64_t nonce_ = 0;
  std::uint32_t seed_ = 0;
};

TEST_F(Strategies, ZerosOfTwoFreshWallets) {
  open();
  join(2, {.compute = zeros_for});
  join(2, {});

  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 2, "", 1000))), 0U);
  EXPECT_EQ(accepted(0) + accepted(1), 0U);
  EXPECT_EQ(view<api::Ledger>("/v1/ledger").sum, 0);

  open(true);
  join(2, {.compute = zeros_for});
  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 2, "", 1000))), tasks);
}

TEST_F(Strategies, AHundredFreshWalletsBesideHonestOnes) {
  open();
  join(100, {.compute = zeros_for});
  join(6, {});

  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 2, "", 1000))), 0U);

  open(true);
  join(100, {.compute = zeros_for});
  join(6, {});
  EXPECT_GT(wrong_tasks(run(jobs::count_manifest(tasks, 2, "", 1000))), 0U);
}

TEST_F(Strategies, StrangersThatSayTheShaderIsWrong) {
  open();
  join(8, {.fails = true});
  join(1, {}, true);

  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 1, "", 1000))), 0U);

  open(true);
  join(8, {.fails = true});
  EXPECT_EQ(finished(run(jobs::count_manifest(tasks, 1, "", 1000))).state, "failed");
}

}  // namespace
}  // namespace weft::coordinator
