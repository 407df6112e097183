// Tests which worker gets which tasks, and how many (matcher.h, worker_choice.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "decisions/scheduler/test_rig.h"

namespace weft::scheduler {
namespace {

TEST(Matching, GivesEveryWorkerATaskBeforeAnyoneGetsTwo) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 5; ++i) rig.add(native_worker(i, i == 1 ? 100 : 0.01));
  rig.add(known_job(1, 5, 1, 1e-6));

  const auto leases = rig.decide(0);

  EXPECT_EQ(leases.size(), 5U);
}

TEST(Matching, FillsSlotsWithShortTasksInOneLease) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 100, 1, 1e-6));

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].tasks.size(), 4U);
}

TEST(Matching, HoldsBackLongTasksForOthers) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 100, 1, 1.0));

  EXPECT_EQ(tasks_in(rig.decide(0)), 1U);
}

TEST(Matching, PrefersTheFasterWorker) {
  Rig rig;
  rig.add(native_worker(1, 1));
  rig.add(native_worker(2, 20));
  rig.add(known_job(1, 1));

  EXPECT_EQ(rig.decide(0)[0].worker, key_of(2));
}

TEST(Matching, ServesHigherPriorityFirstAndThenWhoCameFirst) {
  Rig rig;
  Job low = known_job(1, 1);
  Job high = known_job(2, 1);
  high.priority = 90;
  Job high_later = known_job(3, 1);
  high_later.priority = 90;
  rig.add(low);
  rig.add(high);
  rig.add(high_later);
  Worker worker = native_worker(1);
  worker.slots = 1;

  rig.add(worker);
  std::vector<JobId> order;
  for (int round = 0; round < 3; ++round) {
    const auto leases = rig.decide(round);
    ASSERT_EQ(leases.size(), 1U);
    order.push_back(leases[0].job);
    ASSERT_TRUE(rig.scheduler
                    .result({.task = {leases[0].job, 0},
                             .worker = key_of(1),
                             .attempt = leases[0].tasks[0].attempt},
                            at(round))
                    .has_value());
  }

  EXPECT_EQ(order, (std::vector{high.id, high_later.id, low.id}));
}

TEST(Matching, GivesReplicasToDifferentWorkers) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 2, 2, 1e-6));
  const auto alone = rig.decide(0);
  EXPECT_EQ(tasks_in(alone), 2U);
  ASSERT_TRUE(rig.report(1, 0, 1, 1, 1e-5).has_value());
  ASSERT_TRUE(rig.report(1, 1, 1, 1, 1e-5).has_value());
  EXPECT_TRUE(rig.decide(1).empty()) << "one worker never gets two replicas of a task";

  rig.add(native_worker(2), 1);

  EXPECT_EQ(tasks_in(rig.decide(1)), 2U);
}

TEST(Matching, FindsTheOnlyWorkerThatCanRunATask) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 50; ++i) rig.add(native_worker(i));
  Worker special = native_worker(99);
  special.capabilities.features = {"shader-f16", "subgroups"};
  special.capabilities.limits = {{"maxStorageBufferBindingSize", 1 << 30}};
  special.capabilities.memory_bytes = std::uint64_t{64} << 30;
  rig.add(special);
  for (std::uint64_t i = 1; i <= 100; ++i) rig.add(known_job(i, 10));
  Job job = known_job(1000, 1);
  job.priority = 60;
  job.requirements = {.features = {"subgroups"},
                      .limits = {{"maxStorageBufferBindingSize", 1 << 29}},
                      .memory_bytes = std::uint64_t{32} << 30};
  rig.add(job);

  const auto leases = rig.decide(0);

  const auto found = std::ranges::find(leases, job.id, &Lease::job);
  ASSERT_NE(found, leases.end());
  EXPECT_EQ(found->worker, key_of(99));
}

TEST(Matching, GivesCpuWorkersKernelsOnly) {
  Rig rig;
  Worker cpu = native_worker(1);
  cpu.capabilities.device = protocol::DeviceKind::cpu;
  rig.add(cpu);
  rig.add(known_job(1));
  EXPECT_TRUE(rig.decide(0).empty());
  Job kernel = known_job(2);
  kernel.kind = manifest::Kind::kernel;
  rig.add(kernel);

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].job, kernel.id);
}

TEST(Matching, GivesModelsToWorkersThatRunThem) {
  Rig rig;
  rig.add(native_worker(1));
  Job job = known_job(1);
  job.kind = manifest::Kind::onnx;
  rig.add(job);
  EXPECT_TRUE(rig.decide(0).empty()) << "it has no reader of models, as a tab has none";
  Worker able = native_worker(2);
  able.capabilities.features.emplace_back(manifest::onnx_feature);
  rig.add(able);

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, able.key);
}

TEST(Matching, CutsTheAxisAsTheManifestDoes) {
  Rig rig;
  rig.add(native_worker(1));
  Job job = known_job(1, 4, 1, 1e-6);
  job.workgroups = 10;
  rig.add(job);

  const auto leases = rig.decide(0);

  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (const auto& task : leases.at(0).tasks) ranges.emplace_back(task.first, task.count);
  EXPECT_EQ(ranges,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 3}, {3, 3}, {6, 2}, {8, 2}}));
}

TEST(Matching, GivesAPausedWorkerNothingNew) {
  Rig rig;
  rig.add(native_worker(1));
  rig.scheduler.set_slots(key_of(1), 0);
  rig.add(known_job(1));
  EXPECT_TRUE(rig.decide(0).empty());

  rig.scheduler.set_slots(key_of(1), 2);

  EXPECT_EQ(rig.decide(0).size(), 1U);
}

}  // namespace
}  // namespace weft::scheduler
