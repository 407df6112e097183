// Tests of the parts of the coordinator's verifier, each alone: the order of orders, the cutting of
// runs, and the record of a machine's devices.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "apps/coordinator/ingest/canary_run.h"
#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/run_plan.h"
#include "apps/coordinator/ingest/verifier_queue.h"
#include "decisions/jobs/test_work.h"

namespace weft::coordinator {
namespace {

using Urgency = VerifierQueue::Urgency;
using Ranges = std::vector<manifest::Range>;

class Queue : public testing::Test {
 protected:
  // Adds an order that is identified by a letter.
  void add(Urgency urgency, const std::string& turn, char letter) {
    EXPECT_TRUE(queue_.add(
        {.urgency = urgency, .turn = turn, .carry_out = [this, letter] { taken_ += letter; }}));
  }
  std::string all() {
    while (const auto order = queue_.next()) order->carry_out();
    return taken_;
  }

  VerifierQueue queue_;
  std::string taken_;
};

TEST_F(Queue, DisputesComeBeforeCanariesBeforeSamplesBeforePaidTasks) {
  add(Urgency::paid, "client", 'p');
  add(Urgency::routine, "client", 'r');
  add(Urgency::canary, "client", 'c');
  add(Urgency::dispute, "client", 'd');

  EXPECT_EQ(all(), "dcrp");
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(Queue, ThoseOfOneUrgencyTakeTurns) {
  for (const char letter : {'a', 'b', 'c'}) add(Urgency::routine, "many", letter);
  add(Urgency::routine, "one", 'x');

  EXPECT_EQ(all(), "axbc");
}

TEST_F(Queue, EveryEighthOrderIsOfTheLeastUrgent) {
  for (int i = 0; i < 20; ++i) add(Urgency::dispute, "client", 'd');
  for (int i = 0; i < 2; ++i) add(Urgency::paid, "client", 'p');

  EXPECT_EQ(all(), "dddddddpdddddddpdddddd");
}

TEST_F(Queue, NewcomersAndOthersHaveHalfOfTheTimeEach) {
  for (int i = 0; i < 4; ++i) add(Urgency::newcomer, "network", 'n');
  for (int i = 0; i < 4; ++i) add(Urgency::routine, "client", 'r');

  while (const auto order = queue_.next()) {
    order->carry_out();
    queue_.spent(order->urgency, order->urgency == Urgency::newcomer ? 3 : 1);
  }

  EXPECT_EQ(taken_, "rnrrrnnn");
}

TEST_F(Queue, NoMoreThanTheBoundWait) {
  for (std::size_t i = 0; i < VerifierQueue::orders_max; ++i)
    ASSERT_TRUE(queue_.add({.urgency = Urgency::routine, .turn = "client", .carry_out = {}}));

  EXPECT_FALSE(queue_.add({.urgency = Urgency::dispute, .turn = "client", .carry_out = {}}));

  EXPECT_TRUE(queue_.next().has_value());
  EXPECT_TRUE(queue_.add({.urgency = Urgency::dispute, .turn = "client", .carry_out = {}}));
}

constexpr std::uint32_t workgroups = 32;

std::shared_ptr<const manifest::Manifest> one_task() {
  auto manifest = manifest::parse(jobs::count_manifest(workgroups / 4, 1)).value();
  manifest.split.tasks = 1;
  return std::make_shared<const manifest::Manifest>(std::move(manifest));
}
jobs::VerifyOrder order_of(std::uint32_t parts) {
  return {.task = {},
          .manifest = one_task(),
          .root = {},
          .outputs = {},
          .ranges = {},
          .client = {},
          .rivals = {},
          .parts = parts};
}
Ranges rest_of(RunPlan& plan) {
  Ranges rest;
  while (const auto run = plan.next()) rest.push_back(*run);
  return rest;
}

TEST(RunPlan, ARunOfSeveralPartsIsReplacedByItsParts) {
  const jobs::VerifyOrder order = order_of(32);
  RunPlan plan(order, {{0, 1}, {1, 1}, {3, 1}, {9, 2}}, {{0, 4}, {9, 2}});

  EXPECT_EQ(plan.next(), (manifest::Range{0, 4}));
  EXPECT_TRUE(plan.split({0, 4}, 0));

  EXPECT_EQ(rest_of(plan), (Ranges{{9, 2}, {0, 1}, {1, 1}, {3, 1}}));
}

TEST(RunPlan, ASingleRangeIsCutInPiecesAndNotBelowOnePartOfTheTask) {
  const jobs::VerifyOrder order = order_of(4);
  RunPlan plan(order, {{0, workgroups}}, {{0, workgroups}});
  EXPECT_TRUE(plan.next().has_value());

  EXPECT_TRUE(plan.split({0, workgroups}, 1)) << "to a part, of eight workgroups";

  EXPECT_EQ(rest_of(plan), (Ranges{{0, 8}, {8, 8}, {16, 8}, {24, 8}}));
  EXPECT_FALSE(plan.split({0, 8}, 4));
  EXPECT_FALSE(plan.split({0, workgroups}, 0)) << "it did not take too long";
}

// A task of `steps` steps that cannot be cut.
std::shared_ptr<const manifest::Manifest> steps_task(std::uint32_t steps) {
  return std::make_shared<const manifest::Manifest>(
      manifest::parse(jobs::steps_manifest(steps, 1)).value());
}

// A device for tests. It computes nothing for a job with one step, and runs of more than `most`
// workgroups take too long. For a job with several steps it counts the steps; each step takes
// step_seconds, and a new process compiles first.
class Runner final : public PartRunner {
 public:
  struct Machine {
    std::uint32_t most = workgroups;
    bool has_second = false;
    int made = 0, rests = 0, runs = 0;
    double step_seconds = 0.5;
    double compile_seconds = 0;
    bool has_compiled = false;
  };
  explicit Runner(Machine& machine) : machine_(machine) { ++machine_.made; }
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>& job, const PartRun& part,
                  Duration wall_max) override {
    ++machine_.runs;
    if (job->manifest->steps.size() > 1) return run_steps(part, wall_max);
    if (part.range.count > machine_.most)
      return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    return Ran{.outputs = {}, .seconds = 0.5, .rate = 2};
  }
  void rest() override { ++machine_.rests; }
  std::string vendor() const override { return "mesa"; }
  std::unique_ptr<PartRunner> on_another_device() override {
    return machine_.has_second ? std::make_unique<Runner>(machine_) : nullptr;
  }

 private:
  Result<Ran> run_steps(const PartRun& part, Duration wall_max) {
    const double took = machine_.step_seconds * part.step_count +
                        (machine_.has_compiled ? 0 : machine_.compile_seconds);
    machine_.has_compiled = took <= seconds(wall_max);
    if (!machine_.has_compiled) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    ByteVector counted = part.state == nullptr ? ByteVector(1) : part.state->front();
    EXPECT_EQ(counted.front(), part.step_first) << "it goes on from where the last run ended";
    counted.front() += static_cast<std::uint8_t>(part.step_count);
    return Ran{.outputs = {std::move(counted)}, .seconds = took, .rate = 2};
  }

  Machine& machine_;
};

class Devices : public testing::Test {
 protected:
  Runner::Machine machine_;
  DeviceRuns runs_{[this] { return std::make_unique<Runner>(machine_); }, std::chrono::hours(1)};
  VerifiedJobs::Known job_ = known(one_task());

  static VerifiedJobs::Known known(std::shared_ptr<const manifest::Manifest> manifest) {
    auto job = std::make_shared<VerifiedJob>();
    job->manifest = std::move(manifest);
    return {.id = {}, .job = std::move(job), .bytes = 0, .limits = {}, .steps = {}, .costs = {}};
  }
};

TEST_F(Devices, TheFirstRunStartsTheRunnerAndSaysWhatFitsInTheTimeOfOne) {
  EXPECT_EQ(runs_.vendor(), "");
  EXPECT_EQ(DeviceRuns::workgroups_in_time(job_, first_device), 0U);

  EXPECT_TRUE(runs_.run(job_, {0, 8}).has_value());

  EXPECT_EQ(runs_.vendor(), "mesa");
  EXPECT_EQ(DeviceRuns::workgroups_in_time(job_, first_device), 80U) << "5 s of 0.5 s for eight";
  EXPECT_EQ(DeviceRuns::workgroups_in_time(job_, second_device), 0U);
  runs_.rest();
  EXPECT_EQ(machine_.rests, 1);
}

TEST_F(Devices, WhatTookTooLongAMomentAgoIsNotBegun) {
  machine_.most = 4;

  EXPECT_EQ(runs_.run(job_, {0, 8}).error().message, "It takes too long.");
  EXPECT_EQ(runs_.run(job_, {8, 8}).error().message,
            "A part of the job took longer than 5 s a moment ago.");
  EXPECT_TRUE(runs_.run(job_, {0, 4}).has_value());

  EXPECT_EQ(machine_.runs, 2);
}

TEST_F(Devices, AMachineWithoutASecondDeviceIsAskedOnce) {
  EXPECT_TRUE(runs_.has_second());

  EXPECT_EQ(runs_.run(job_, {0, 8}, second_device).error().code, ErrorCode::unavailable);

  EXPECT_FALSE(runs_.has_second());
  machine_.has_second = true;
  EXPECT_FALSE(runs_.run(job_, {0, 8}, second_device).has_value());
  EXPECT_EQ(machine_.made, 1);
}

TEST_F(Devices, ACanaryIsMeasuredOnAnEighthOfWhatTakesTooLong) {
  machine_.most = 4;
  const jobs::MeasureOrder order{
      .job = {}, .manifest = one_task(), .range = {0, workgroups}, .client = {}};

  const auto measured = run_canary(runs_, job_, order);

  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  EXPECT_EQ(measured->workgroups, 4U);
  EXPECT_EQ(measured->rate, 2);
  machine_.most = 0;
  EXPECT_EQ(run_canary(runs_, job_, order).error().code, ErrorCode::deadline_exceeded);
}

TEST_F(Devices, ATaskThatCannotBeCutIsRunAFewStepsAtATime) {
  VerifiedJobs::Known job = known(steps_task(40));

  const auto ran = runs_.run(job, {0, 1});

  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(ran->outputs, (std::vector<ByteVector>{{40}}));
  EXPECT_DOUBLE_EQ(ran->seconds, 20) << "four times what one run may take";
  EXPECT_EQ(ran->rate, 2);
}

TEST_F(Devices, TheCanaryOfATaskOfManyStepsIsMeasuredWithoutCompiling) {
  VerifiedJobs::Known job = known(steps_task(40));
  machine_.compile_seconds = 4;
  const jobs::MeasureOrder order{
      .job = {}, .manifest = job.job->manifest, .range = {0, 1}, .client = {}};

  const auto measured = run_canary(runs_, job, order);

  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  EXPECT_DOUBLE_EQ(measured->gpu_seconds, 20);
  EXPECT_EQ(measured->workgroups, 1U);
}

TEST_F(Devices, ATaskOfManyStepsThatTakesTooLongIsLeftAloneForAWhile) {
  VerifiedJobs::Known job = known(steps_task(64));
  machine_.step_seconds = 1.2;

  EXPECT_EQ(runs_.run(job, {0, 1}).error().message,
            "The task takes longer than 30 s, or one of its steps longer than 5 s.");
  EXPECT_EQ(machine_.runs, 3) << "two runs showed it, and one compiled";
  EXPECT_EQ(runs_.run(job, {0, 1}).error().message,
            "A part of the job took longer than 30 s a moment ago.");
  EXPECT_EQ(machine_.runs, 3);
}

// The job's runs took 22.8 s, and a pause for one run of 5 s would be too short.
TEST_F(Devices, WhatTookThemLongerIsLeftAloneForLonger) {
  DeviceRuns runs([this] { return std::make_unique<Runner>(machine_); },
                  std::chrono::milliseconds(200));
  VerifiedJobs::Known job = known(steps_task(64));
  machine_.step_seconds = 0.6;
  ASSERT_FALSE(runs.run(job, {0, 1}).has_value());
  const int tried = machine_.runs;

  std::this_thread::sleep_for(std::chrono::milliseconds(300));

  EXPECT_FALSE(runs.run(job, {0, 1}).has_value());
  EXPECT_EQ(machine_.runs, tried) << "it has no larger share of the device";
}

}  // namespace
}  // namespace weft::coordinator
