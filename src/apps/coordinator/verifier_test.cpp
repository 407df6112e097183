// Tests of the order in which the coordinator's verifier takes orders: samples of newcomers and of
// others get half of its time each, however long they take, and newcomers' networks and clients
// take turns. The verifier has its own thread and real blobs; the test decides how long runs take.
#include "apps/coordinator/ingest/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "apps/coordinator/test_network.h"
#include "common/base/byte_reader.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/test_work.h"

namespace weft::coordinator {
namespace {

using testing::Contains;
using testing::SizeIs;

constexpr std::uint32_t tasks = 8;

// Computes the counting job. The canary of the job "gate" waits until the test opens the gate; a
// job whose name begins with "long" takes longer.
class SlowRunner final : public PartRunner {
 public:
  SlowRunner(std::shared_future<void> open, std::atomic<int>& runs)
      : open_(std::move(open)), runs_(runs) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>& job, const PartRun& part,
                  Duration) override {
    const manifest::Range range = part.range;
    if (job->manifest->name == "gate") open_.wait();
    if (job->manifest->name == "holes" && range.count > 1)
      return fail(ErrorCode::deadline_exceeded, "What lies between takes too long.");
    ++runs_;
    if (job->manifest->name == "long") std::this_thread::sleep_for(std::chrono::milliseconds(40));
    ByteVector bytes;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) append_le(bytes, i);
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}

 private:
  const std::shared_future<void> open_;
  std::atomic<int>& runs_;
};

class VerifierOrder : public testing::Test {
 protected:
  struct Kind {
    std::string name;  // The job's name; "long" jobs take longer.
    bool newcomers = false;
    std::uint8_t client = 1;
    std::string group = {};
    // Parts of each task that are checked.
    std::vector<manifest::Range> parts = {{.first = 0, .count = 1}};
  };

  void SetUp() override {
    verifier_ = std::make_unique<Verifier>(
        *blobs_,
        [this, open = open_.get_future().share()] {
          return std::make_unique<SlowRunner>(open, runs_);
        },
        [this](const jobs::VerifyOrder& order, const jobs::Checked& checked) {
          EXPECT_EQ(checked.outcome, trust::AuditOutcome::agrees) << checked.reason;
          const std::lock_guard lock(mutex_);
          done_.push_back(order.task.job);
          changed_.notify_one();
        },
        [](const JobId&, const Result<scheduler::Measurement>&) {});
    verifier_->measure({.job = id_of(99),
                        .manifest = manifest_of("gate"),
                        .range = {.first = 0, .count = 1},
                        .client = {}});
    // The verifier is running the gate's canary, so that later orders wait.
    while (verifier_->waiting() > 0) std::this_thread::yield();
  }

  static JobId id_of(std::uint8_t number) {
    JobId id;
    id.bytes[0] = number;
    return id;
  }
  static std::shared_ptr<const manifest::Manifest> manifest_of(const std::string& name) {
    auto parsed = manifest::parse(jobs::count_manifest(tasks, 1)).value();
    parsed.name = name;
    return std::make_shared<const manifest::Manifest>(std::move(parsed));
  }
  // Adds an order for each task of job `number`.
  void add(std::uint8_t number, const Kind& kind, std::uint32_t count = tasks) {
    const auto manifest = manifest_of(kind.name);
    for (std::uint32_t index = 0; index < count; ++index) {
      ByteVector bytes;
      for (std::uint32_t i = index * 4; i < index * 4 + 4; ++i) append_le(bytes, i);
      jobs::VerifyOrder order{
          .task = {.job = id_of(number), .index = index},
          .manifest = manifest,
          .root = proof::task_root(std::array{bytes}),
          .outputs = {{.hash = blobs_->put(bytes).value(), .bytes = bytes.size()}},
          .ranges = {},
          .client = {},
          .group = kind.group,
          .first = kind.newcomers,
          .rivals = {}};
      for (const manifest::Range part : kind.parts)
        order.ranges.push_back({.first = index * 4 + part.first, .count = part.count});
      order.client.bytes[0] = kind.client;
      verifier_->verify(std::move(order));
    }
  }
  // Opens the gate and returns the jobs of the first `count` orders in the order of their
  // execution.
  std::vector<std::uint8_t> first(std::size_t count) {
    open_.set_value();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.size() >= count; });
    std::vector<std::uint8_t> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(done_[i].bytes[0]);
    return out;
  }

  TestFolder folder_;
  std::unique_ptr<store::Blobs> blobs_ = store::Blobs::open(folder_.path(), {}).value();
  std::promise<void> open_;
  std::atomic<int> runs_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<JobId> done_;
  std::unique_ptr<Verifier> verifier_;  // Declared last, so that its thread ends first.
};

TEST_F(VerifierOrder, NewcomersLongSamplesLeaveOthersHalfOfTheTime) {
  add(1, {.name = "long", .newcomers = true, .group = "192.0.2"});
  add(2, {.name = "short"});

  EXPECT_GE(std::ranges::count(first(8), 2), 4);
}

TEST_F(VerifierOrder, OthersLongChecksLeaveNewcomersHalfOfTheTime) {
  add(1, {.name = "short", .newcomers = true, .group = "192.0.2"});
  add(2, {.name = "long"});

  EXPECT_GE(std::ranges::count(first(8), 1), 3);
}

TEST_F(VerifierOrder, NewcomersOfOneNetworkShareOneTurn) {
  add(1, {.name = "crowd", .newcomers = true, .client = 1, .group = "192.0.2"});
  add(2, {.name = "crowd", .newcomers = true, .client = 2, .group = "192.0.2"});
  add(3, {.name = "lone", .newcomers = true, .client = 1, .group = "198.51.100"}, 2);

  EXPECT_EQ(std::ranges::count(first(4), 3), 2);
}

TEST_F(VerifierOrder, ClientsTakeTurns) {
  add(1, {.name = "many", .client = 1});
  add(2, {.name = "few", .client = 2}, 2);

  EXPECT_EQ(std::ranges::count(first(4), 2), 2);
}

TEST_F(VerifierOrder, NeighbouringPartsAreOneRun) {
  // The first check measures the time of a run.
  add(1, {.name = "short", .client = 1, .parts = {{0, 1}}}, 1);
  add(1, {.name = "short", .client = 2, .parts = {{0, 1}, {1, 1}, {2, 1}}}, 1);

  (void)first(2);

  EXPECT_EQ(runs_, 3) << "with the canary";
}

TEST_F(VerifierOrder, PartsAreRunAloneWhereTheyCannotRunTogether) {
  add(1, {.name = "holes", .client = 1, .parts = {{0, 1}}}, 1);
  add(1, {.name = "holes", .client = 2, .parts = {{0, 1}, {1, 1}, {3, 1}}}, 1);

  (void)first(2);

  EXPECT_EQ(runs_, 1 + 1 + 3);
}

// Computes the counting job; runs of more than `most` workgroups take too long.
class BusyRunner final : public PartRunner {
 public:
  BusyRunner(std::atomic<std::uint32_t>& most, std::atomic<int>& tries)
      : most_(most), tries_(tries) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, const PartRun& part,
                  Duration) override {
    const manifest::Range range = part.range;
    ++tries_;
    if (range.count > most_) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    ByteVector bytes;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) append_le(bytes, i);
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}

 private:
  std::atomic<std::uint32_t>& most_;
  std::atomic<int>& tries_;
};

class BusyVerifier : public testing::Test {
 protected:
  static constexpr std::uint32_t workgroups = 32;

  static std::shared_ptr<const manifest::Manifest> one_task() {
    auto manifest = manifest::parse(jobs::count_manifest(workgroups / 4, 1)).value();
    manifest.split.tasks = 1;
    return std::make_shared<const manifest::Manifest>(std::move(manifest));
  }
  void open(Duration late_for = Duration(0)) {
    verifier_ = std::make_unique<Verifier>(
        *blobs_, [this] { return std::make_unique<BusyRunner>(most_, tries_); },
        [this](const jobs::VerifyOrder&, const jobs::Checked& checked) {
          checked_.set_value(checked);
        },
        [this](const JobId&, const Result<scheduler::Measurement>& measured) {
          measured_.set_value(measured);
        },
        VerifierBounds{.late_for = late_for});
  }
  // Checks a whole task that is cut into `parts`. With `wrong` its last workgroup is wrong.
  jobs::Checked check(std::uint32_t parts, bool wrong = false) {
    ByteVector bytes;
    for (std::uint32_t i = 0; i < workgroups; ++i) append_le(bytes, i);
    if (wrong) bytes.back() ^= 1;
    const store::OutputBlob blob{.hash = blobs_->put(bytes).value(), .bytes = bytes.size()};
    checked_ = {};
    jobs::VerifyOrder order{.task = {},
                            .manifest = manifest_,
                            .root = proof::task_root(std::array{bytes}),
                            .outputs = {blob},
                            .ranges = {{.first = 0, .count = workgroups}},
                            .client = {},
                            .rivals = {},
                            .parts = parts};
    verifier_->verify(std::move(order));
    return checked_.get_future().get();
  }
  Result<scheduler::Measurement> measure(std::uint32_t count) {
    measured_ = {};
    verifier_->measure(
        {.job = {}, .manifest = manifest_, .range = {.first = 0, .count = count}, .client = {}});
    return measured_.get_future().get();
  }

  TestFolder folder_;
  std::unique_ptr<store::Blobs> blobs_ = store::Blobs::open(folder_.path(), {}).value();
  std::shared_ptr<const manifest::Manifest> manifest_ = one_task();
  std::atomic<std::uint32_t> most_ = 0;
  std::atomic<int> tries_ = 0;
  std::promise<jobs::Checked> checked_;
  std::promise<Result<scheduler::Measurement>> measured_;
  std::unique_ptr<Verifier> verifier_;  // Declared last, so that its thread ends first.
};

TEST_F(BusyVerifier, WhatTakesTooLongIsCutUntilItFitsAndCheckedWhole) {
  open();
  most_ = 8;

  EXPECT_EQ(check(32).outcome, trust::AuditOutcome::agrees);

  EXPECT_EQ(tries_, 1 + 1 + 4) << "all of it, a half, and four quarters";
  const jobs::Checked wrong = check(32, true);
  EXPECT_EQ(wrong.outcome, trust::AuditOutcome::differs);
  ASSERT_TRUE(wrong.wrong.has_value());
  EXPECT_EQ(wrong.wrong->first + wrong.wrong->count, workgroups) << "no piece is left out";
}

TEST_F(BusyVerifier, APartOfATaskIsNotCut) {
  open();
  most_ = 8;

  const jobs::Checked checked = check(2);

  EXPECT_EQ(checked.outcome, trust::AuditOutcome::failed);
  EXPECT_TRUE(checked.late);
  EXPECT_EQ(checked.reason, "It takes too long.");
  EXPECT_EQ(tries_, 2);
}

TEST_F(BusyVerifier, ASlowMomentIsForgottenWhenTheMachineIsFastAgain) {
  open();
  EXPECT_TRUE(check(32).late);
  most_ = workgroups;

  EXPECT_EQ(check(32).outcome, trust::AuditOutcome::agrees);
  tries_ = 0;
  EXPECT_EQ(check(32).outcome, trust::AuditOutcome::agrees);

  EXPECT_EQ(tries_, 1) << "in one run";
}

TEST_F(BusyVerifier, WhatWaitsOfAJobThatTookTooLongAMomentAgoDoesNotTakeAsLongEach) {
  open(std::chrono::hours(1));
  EXPECT_TRUE(check(1).late);
  most_ = workgroups;

  const jobs::Checked checked = check(1);

  EXPECT_TRUE(checked.late);
  EXPECT_EQ(checked.reason, "A part of the job took longer than 5 s a moment ago.");
  EXPECT_EQ(tries_, 1);
}

TEST_F(BusyVerifier, ACanaryThatTakesTooLongIsMeasuredOnLess) {
  open();
  most_ = 1;

  const auto measured = measure(workgroups);

  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  EXPECT_EQ(measured->workgroups, 1U);
  EXPECT_EQ(tries_, 3) << "of 32, 4 and 1 workgroups";
  most_ = 0;
  EXPECT_EQ(measure(workgroups).error().code, ErrorCode::deadline_exceeded);
}

// A runner whose steps each take half a second and add one to the task's only number. A run that
// takes longer than its limit is ended.
class StepsRunner final : public PartRunner {
 public:
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, const PartRun& part,
                  Duration wall_max) override {
    const double took = 0.5 * part.step_count;
    if (took > seconds(wall_max)) return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    std::uint32_t number = part.state == nullptr ? 0 : read_le<std::uint32_t>(part.state->front());
    number += part.step_count;
    ByteVector bytes;
    append_le(bytes, number);
    return Ran{.outputs = {std::move(bytes)}, .seconds = took};
  }
  void rest() override {}
};

class StepsVerifier : public testing::Test {
 protected:
  static constexpr std::uint32_t steps = 40;  // 20 s, four times what one run may take.

  jobs::Checked check(std::uint32_t claimed, bool paid = false) {
    ByteVector bytes;
    append_le(bytes, claimed);
    checked_ = {};
    verifier_.verify({.task = {},
                      .manifest = manifest_,
                      .root = proof::task_root(std::array{bytes}),
                      .outputs = {{.hash = blobs_->put(bytes).value(), .bytes = bytes.size()}},
                      .ranges = {{.first = 0, .count = 1}},
                      .client = {},
                      .rivals = {},
                      .paid = paid});
    return checked_.get_future().get();
  }

  TestFolder folder_;
  std::unique_ptr<store::Blobs> blobs_ = store::Blobs::open(folder_.path(), {}).value();
  const std::shared_ptr<const manifest::Manifest> manifest_ = [] {
    auto manifest = manifest::parse(jobs::count_manifest(1, 1)).value();
    manifest.steps.assign(steps, {.entry = "main", .dispatch = {1, 1, 1}});
    manifest.split.tasks = 1;
    manifest.bindings.front().shape = {1};
    manifest.bindings.front().split_dim.reset();
    return std::make_shared<const manifest::Manifest>(std::move(manifest));
  }();
  std::promise<jobs::Checked> checked_;
  std::promise<Result<scheduler::Measurement>> measured_;
  Verifier verifier_{*blobs_, [] { return std::make_unique<StepsRunner>(); },
                     [this](const jobs::VerifyOrder&, const jobs::Checked& checked) {
                       checked_.set_value(checked);
                     },
                     [this](const JobId&, const Result<scheduler::Measurement>& measured) {
                       measured_.set_value(measured);
                     }};
};

TEST_F(StepsVerifier, ACanaryOfManyStepsIsMeasuredThoughItTakesLongerThanOneRun) {
  verifier_.measure(
      {.job = {}, .manifest = manifest_, .range = {.first = 0, .count = 1}, .client = {}});

  const auto measured = measured_.get_future().get();

  ASSERT_TRUE(measured.has_value()) << measured.error().message;
  EXPECT_DOUBLE_EQ(measured->gpu_seconds, 0.5 * steps);
}

TEST_F(StepsVerifier, ATaskOfManyStepsIsCheckedWholeThoughItTakesLongerThanOneRun) {
  const jobs::Checked right = check(steps);
  EXPECT_EQ(right.outcome, trust::AuditOutcome::agrees) << right.reason;

  const jobs::Checked wrong = check(steps - 1);
  EXPECT_EQ(wrong.outcome, trust::AuditOutcome::differs) << wrong.reason;
  EXPECT_EQ(wrong.wrong, (manifest::Range{.first = 0, .count = 1}));

  const jobs::Checked paid = check(steps - 1, true);
  EXPECT_EQ(paid.outcome, trust::AuditOutcome::differs) << paid.reason;
  ByteVector bytes;
  append_le(bytes, steps);
  ASSERT_TRUE(paid.right.has_value());
  EXPECT_EQ(paid.right->root, proof::task_root(std::array{bytes})) << "its client is given this";
}

TEST(RunLimit, HalvesWhatRanOutOfTimeAndBelievesTheNextRun) {
  RunLimit limit;
  EXPECT_EQ(limit.workgroups_in(5), 0U) << "nothing is known";
  limit.ran(1, 0.5);
  EXPECT_EQ(limit.workgroups_in(5), 10U);
  limit.ran(64, 3.2);
  EXPECT_EQ(limit.workgroups_in(5), 100U);
  limit.ran(1, 0.5);
  EXPECT_EQ(limit.workgroups_in(5), 100U) << "what a run takes besides its work";

  limit.ran_out(100, 5, Instant{});
  EXPECT_EQ(limit.workgroups_in(5), 50U);
  limit.ran_out(1, 5, Instant{});
  EXPECT_EQ(limit.workgroups_in(5), 1U) << "one is tried again";
  limit.ran(1, 0.05);
  EXPECT_EQ(limit.workgroups_in(5), 100U);
}

TEST(RunLimit, IsLateForAWhileForAsMuchAsRanOutOfTime) {
  using std::chrono::seconds;
  const Instant now{std::chrono::hours(1)};
  RunLimit limit;
  EXPECT_FALSE(limit.is_late(100, now));
  limit.ran_out(8, 5, now + seconds(8));

  EXPECT_TRUE(limit.is_late(8, now + seconds(7)));
  EXPECT_FALSE(limit.is_late(7, now + seconds(7)));
  EXPECT_FALSE(limit.is_late(8, now + seconds(8)));
  limit.ran(8, 1);
  EXPECT_FALSE(limit.is_late(8, now)) << "it was run meanwhile";
}

// Tests of the jobs whose data the verifier keeps in memory.
class VerifiedJobsTest : public testing::Test {
 protected:
  // A counting job with `bytes` bytes of additional data.
  std::shared_ptr<const manifest::Manifest> job_with(std::uint8_t mark, std::size_t bytes) {
    auto parsed = manifest::parse(jobs::count_manifest(1, 1)).value();
    const ByteVector data(bytes, mark);
    parsed.bindings.push_back({.binding = 9, .data = manifest::Blob{blobs_->put(data).value()}});
    return std::make_shared<const manifest::Manifest>(std::move(parsed));
  }
  static JobId id_of(std::uint8_t number) {
    JobId id;
    id.bytes[0] = number;
    return id;
  }
  TestFolder folder_;
  std::unique_ptr<store::Blobs> blobs_ = store::Blobs::open(folder_.path(), {}).value();
};

TEST_F(VerifiedJobsTest, TheirDataStayWithinABoundOfBytes) {
  VerifiedJobs bounded(*blobs_, {.jobs_max = 8, .bytes_max = 250'000});
  VerifiedJobs unbounded(*blobs_, {.jobs_max = 8, .bytes_max = UINT64_MAX});
  for (std::uint8_t number = 1; number <= 4; ++number) {
    const auto job = job_with(number, 100'000);
    ASSERT_TRUE(bounded.find_or_load(id_of(number), job).has_value());
    ASSERT_TRUE(unbounded.find_or_load(id_of(number), job).has_value());
    EXPECT_LE(bounded.bytes(), 250'000U);
  }
  EXPECT_EQ(bounded.bytes(), 200'000U);
  EXPECT_EQ(unbounded.bytes(), 400'000U) << "The attack: data of jobs that ended are kept.";
  // The most recently used jobs are still in memory and are not loaded again.
  ASSERT_TRUE(bounded.find_or_load(id_of(4), job_with(4, 100'000)).has_value());
  EXPECT_EQ(bounded.bytes(), 200'000U);
  bounded.clear();
  EXPECT_EQ(bounded.bytes(), 0U);
}

TEST_F(VerifiedJobsTest, AJobOverTheBoundIsNotRead) {
  VerifiedJobs jobs(*blobs_, {.jobs_max = 8, .bytes_max = 99'999});
  const auto refused = jobs.find_or_load(id_of(1), job_with(1, 100'000));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(refused.error().message,
            "The job's data have 100000 bytes; the verifier takes at most 99999.");
  EXPECT_EQ(jobs.bytes(), 0U);
}

TEST(VerifierRuns, JoinPartsThatAreNearEachOther) {
  const std::vector<manifest::Range> parts = {{0, 2}, {2, 2}, {6, 2}, {20, 2}};
  using Runs = std::vector<manifest::Range>;

  EXPECT_EQ(runs_of(parts, 0, 64), (Runs{{0, 4}, {6, 2}, {20, 2}}));
  EXPECT_EQ(runs_of(parts, 2, 64), (Runs{{0, 8}, {20, 2}}));
  EXPECT_EQ(runs_of(parts, 12, 64), (Runs{{0, 22}}));
  EXPECT_EQ(runs_of(parts, 12, 8), (Runs{{0, 8}, {20, 2}}));
  EXPECT_EQ(runs_of(parts, 12, 0), parts) << "nothing is known yet";
}

TEST(VerifierRuns, AreJoinedOverAsMuchAsTheShortestRunTakes) {
  RunCosts costs;
  EXPECT_EQ(costs.gap_max(), 0U);
  costs.ran(2, 0.001);
  EXPECT_EQ(costs.gap_max(), 2U) << "all of it may have been work";
  costs.ran(64, 0.004);
  EXPECT_EQ(costs.gap_max(), 16U);
  costs.ran(4, 0.0005);
  EXPECT_EQ(costs.gap_max(), 8U);
}

}  // namespace
}  // namespace weft::coordinator
