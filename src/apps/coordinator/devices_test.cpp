// Tests that tell a worker's fault from its device's: the verifier's second device and other
// workers with the suspect's vendor decide. Also tests searches that find nothing in most places.
// In simulated time, with the real sessions, checks, verifier and ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "apps/coordinator/test_network.h"

namespace weft::coordinator {
namespace {

using testing::StartsWith;

class DevicesNetwork : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 16;

  void open(const jobs::CoreSettings& settings = {}) {
    network = std::make_unique<TestNetwork>(settings);
    network->verifier = true;
    network->invitation = trust::Invitation::none;
  }
  crypto::KeyPair& wallet() {
    return *wallets.emplace_back(
        std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value()));
  }
  TestWorker& join(const jobs::Behaviour& behaviour = {}, bool invited = false) {
    network->invitation = invited ? trust::Invitation::worker : trust::Invitation::none;
    return network->join(wallet(), behaviour);
  }
  JobId submit(const std::string& manifest) {
    const auto submitted = network->submit(wallet(), manifest, {++nonce});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return JobId::parse(submitted->id).value();
  }
  bool suspended(const TestWorker& worker) {
    const auto standings = network->store().load()->standings;
    return std::ranges::any_of(standings, [&](const store::Standing& each) {
      return each.worker == worker.key.public_key() && each.suspended_until > 0;
    });
  }
  MicroCredits owned(const TestWorker& worker) {
    const auto owner = OwnerId::of_first(worker.key.public_key());
    return network->balance(ledger::Account::held(owner)) +
           network->balance(ledger::Account::owner(owner));
  }
  // Runs jobs of two clients with a stranger that behaves as given; an invited worker then does the
  // tasks whose results were refused.
  TestWorker& play(const std::string& manifest, const jobs::Behaviour& stranger,
                   const jobs::Behaviour& trusted = {}) {
    TestWorker& suspect = join(stranger);
    for (int client = 0; client < 2; ++client) {
      const JobId job = submit(manifest);
      TestWorker& invited = join(trusted, true);
      last = network->finish(job);
      invited.line->on_closed();
      network->run();
    }
    return suspect;
  }

  std::unique_ptr<TestNetwork> network;
  std::vector<std::unique_ptr<crypto::KeyPair>> wallets;
  store::Job last;
  std::uint8_t nonce = 0;
};

ByteVector nothing(const protocol::LeasedTask& task) {
  return ByteVector(std::size_t{4} * task.count);
}

TEST_F(DevicesNetwork, OnTheWordOfOneDeviceNoWorkerIsConvicted) {
  using Second = CountRunner::Second;
  for (const auto second : {Second::same, Second::none, Second::other}) {
    open();
    network->verifier_second = second;

    TestWorker& suspect = play(jobs::count_manifest(tasks, 1), {.compute = nothing});

    EXPECT_EQ(last.state, store::JobState::done) << last.reason;
    EXPECT_EQ(owned(suspect), 0) << "what is wrong is refused in any case";
    EXPECT_EQ(suspended(suspect), second == Second::same);
  }
  open([] {
    jobs::CoreSettings settings;
    settings.referee.defences.two_devices = false;
    return settings;
  }());
  network->verifier_second = Second::none;
  EXPECT_TRUE(suspended(play(jobs::count_manifest(tasks, 1), {.compute = nothing})))
      << "without the rule";
}

// The stranger delivers a wrong result in a job of each of two clients, and the process restarts
// after each refusal.
TEST_F(DevicesNetwork, ARestartForgetsNoWrongResultOfATaskThatIsStillOpen) {
  open();
  const crypto::KeyPair& key = wallet();
  for (int client = 0; client < 2; ++client) {
    network->invitation = trust::Invitation::none;
    TestWorker& suspect = network->join(key, {.compute = nothing});
    const JobId job = submit(jobs::count_manifest(tasks, 1));
    network->finish(job, std::chrono::seconds(5));
    ASSERT_FALSE(suspect.verdicts.empty());
    EXPECT_FALSE(suspect.verdicts.front().accepted);

    network->restart();

    TestWorker& invited = join({}, true);
    EXPECT_EQ(network->finish(job).state, store::JobState::done);
    invited.line->on_closed();
    network->run();
  }
  const auto standings = network->store().load()->standings;
  EXPECT_TRUE(std::ranges::any_of(standings, [&](const store::Standing& each) {
    return each.worker == key.public_key() && each.suspended_until > 0;
  }));
  EXPECT_TRUE(network->store().load()->faults.empty()) << "the jobs have ended";
  const auto watches = network->store().load()->watches;
  EXPECT_EQ(
      std::ranges::count_if(watches, [](const store::Watch& each) { return each.mistakes > 0; }),
      1);
}

TEST_F(DevicesNetwork, AJobWhoseResultIsWhatTheSecondDeviceComputesIsNotReproducible) {
  open();
  network->verifier_second = CountRunner::Second::other;
  // The operator's worker runs the canary, so that the job has a price.
  join({.answers_below = 1}, true);
  TestWorker& stranger = join({.compute = [](const protocol::LeasedTask& task) {
    ByteVector bytes;
    for (std::uint32_t i = task.first; i < task.first + task.count; ++i)
      append_le(bytes, i ^ CountRunner::other_device);
    return bytes;
  }});

  const store::Job job = network->finish(submit(jobs::count_manifest(tasks, 1)));

  EXPECT_EQ(job.state, store::JobState::failed);
  EXPECT_THAT(job.reason, StartsWith("not reproducible: The verifier's two devices compute "
                                     "different values for the same part"));
  EXPECT_GT(owned(stranger), 0) << "its client pays for what ran";
  EXPECT_FALSE(suspended(stranger));
  EXPECT_EQ(network->store().load()->reputations.empty() ||
                network->store().load()->reputations.front().refused == 0,
            true);
}

// The verifier confirms one of the two results of task 1 and so refutes the other. A second device
// must compute the refuting part too.
TEST_F(DevicesNetwork, WhatRefutesAnotherResultIsComputedOnTheSecondDeviceToo) {
  using Second = CountRunner::Second;
  open();
  const auto result = [&](std::uint32_t mask) {
    ByteVector bytes;
    for (std::uint32_t i = 4; i < 8; ++i) append_le(bytes, i == 6 ? i ^ mask : i);
    return std::vector<store::OutputBlob>{
        {.hash = network->blobs().put(bytes).value(), .bytes = bytes.size()}};
  };
  const auto manifest = std::make_shared<const manifest::Manifest>(
      manifest::parse(jobs::count_manifest(tasks, 2)).value());
  const auto check = [&](Second second, std::uint32_t rival) {
    const bool never = false;
    const auto steady = CountRunner::Unsteady::no;
    std::promise<jobs::Checked> answer;
    Verifier verifier(
        network->blobs(), [&] { return std::make_unique<CountRunner>(never, steady, second); },
        [&](const jobs::VerifyOrder&, const jobs::Checked& checked) { answer.set_value(checked); },
        [](const JobId&, const Result<scheduler::Measurement>&) {});
    verifier.verify({.task = {.job = {}, .index = 1},
                     .manifest = manifest,
                     .root = {},
                     .outputs = result(0),
                     .ranges = {{.first = 4, .count = 1}},
                     .client = {},
                     .rivals = {result(rival)},
                     .parts = 4});
    return answer.get_future().get();
  };

  const jobs::Checked two = check(Second::same, 0x80);
  EXPECT_EQ(two.outcome, trust::AuditOutcome::agrees);
  EXPECT_EQ(two.devices, trust::Devices::two);
  ASSERT_EQ(two.apart.size(), 1U);
  EXPECT_EQ(two.apart[0].first, 6U);
  EXPECT_EQ(check(Second::none, 0x80).devices, trust::Devices::one);
  EXPECT_EQ(check(Second::other, 0x80).devices, trust::Devices::divided);
  EXPECT_TRUE(check(Second::other, CountRunner::other_device).unsteady)
      << "the other result is what the second device computes";
}

// The only task is the whole job, so that no larger range around a part exists.
TEST_F(DevicesNetwork, AnAnswerThatChangesFromRunToRunIsTheShadersFaultOnOneDeviceToo) {
  open();
  auto parsed = manifest::parse(jobs::count_manifest(1, 1)).value();
  const auto manifest = std::make_shared<const manifest::Manifest>(std::move(parsed));
  for (const auto unsteady : {CountRunner::Unsteady::by_run, CountRunner::Unsteady::no}) {
    const bool never = false;
    const auto second = CountRunner::Second::none;
    std::promise<jobs::Checked> answer;
    Verifier verifier(
        network->blobs(), [&] { return std::make_unique<CountRunner>(never, unsteady, second); },
        [&](const jobs::VerifyOrder&, const jobs::Checked& checked) { answer.set_value(checked); },
        [](const JobId&, const Result<scheduler::Measurement>&) {});
    const ByteVector wrong(16, 0x55);
    verifier.verify({.task = {},
                     .manifest = manifest,
                     .root = {},
                     .outputs = {{.hash = network->blobs().put(wrong).value(), .bytes = 16}},
                     .ranges = {{.first = 0, .count = 4}},
                     .client = {},
                     .rivals = {}});

    const jobs::Checked checked = answer.get_future().get();

    EXPECT_EQ(checked.unsteady, unsteady == CountRunner::Unsteady::by_run);
    EXPECT_EQ(checked.outcome == trust::AuditOutcome::differs,
              unsteady == CountRunner::Unsteady::no);
  }
}

// Computes the counting job, but the second device gives different results from its second run on.
class FickleSecond final : public PartRunner {
 public:
  explicit FickleSecond(bool is_second = false) : is_second_(is_second) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, const PartRun& part,
                  Duration) override {
    const manifest::Range range = part.range;
    ByteVector bytes;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) append_le(bytes, i);
    if (is_second_ && ++runs_ > 1) bytes.front() ^= 0x20;
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}
  std::unique_ptr<PartRunner> on_another_device() override {
    return std::make_unique<FickleSecond>(true);
  }

 private:
  const bool is_second_;
  int runs_ = 0;
};

TEST_F(DevicesNetwork, AnAnswerThatChangesOnTheSecondDeviceAloneIsNoEvidence) {
  open();
  const auto manifest = std::make_shared<const manifest::Manifest>(
      manifest::parse(jobs::count_manifest(1, 1)).value());
  std::promise<jobs::Checked> answer;
  Verifier verifier(
      network->blobs(), [] { return std::make_unique<FickleSecond>(); },
      [&](const jobs::VerifyOrder&, const jobs::Checked& checked) { answer.set_value(checked); },
      [](const JobId&, const Result<scheduler::Measurement>&) {});
  const ByteVector wrong(16, 0x55);
  verifier.verify({.task = {},
                   .manifest = manifest,
                   .root = {},
                   .outputs = {{.hash = network->blobs().put(wrong).value(), .bytes = 16}},
                   .ranges = {{.first = 0, .count = 4}},
                   .client = {},
                   .rivals = {}});

  const jobs::Checked checked = answer.get_future().get();

  EXPECT_TRUE(checked.unsteady);
  EXPECT_EQ(checked.reason,
            "The verifier computes different values for the same part when it runs the part again, "
            "or inside a larger range.");
}

// Computes the counting job, but the second device exceeds the time limit in its first `late` runs.
class SlowSecond final : public PartRunner {
 public:
  explicit SlowSecond(int& late, bool is_second = false) : late_(late), is_second_(is_second) {}
  Result<Ran> run(const std::shared_ptr<const VerifiedJob>&, const PartRun& part,
                  Duration) override {
    const manifest::Range range = part.range;
    if (is_second_ && late_ > 0 && late_-- > 0)
      return fail(ErrorCode::deadline_exceeded, "It takes too long.");
    ByteVector bytes;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) append_le(bytes, i);
    return Ran{.outputs = {std::move(bytes)}, .seconds = 0.0001};
  }
  void rest() override {}
  std::unique_ptr<PartRunner> on_another_device() override {
    return std::make_unique<SlowSecond>(late_, true);
  }

 private:
  int& late_;
  const bool is_second_;
};

TEST_F(DevicesNetwork, ASecondDeviceThatRunsOutOfTimeIsWaitedForWhereThatIsWanted) {
  open();
  const auto manifest = std::make_shared<const manifest::Manifest>(
      manifest::parse(jobs::count_manifest(1, 1)).value());
  int late = 0;
  std::promise<jobs::Checked> answer;
  Verifier verifier(
      network->blobs(), [&] { return std::make_unique<SlowSecond>(late); },
      [&](const jobs::VerifyOrder&, const jobs::Checked& checked) { answer.set_value(checked); },
      [](const JobId&, const Result<scheduler::Measurement>&) {}, {.late_for = Duration(0)});
  const ByteVector wrong(16, 0x55);
  const auto check = [&](bool paid, bool waits, int times) {
    late = times;
    answer = {};
    verifier.verify({.task = {},
                     .manifest = manifest,
                     .root = {},
                     .outputs = {{.hash = network->blobs().put(wrong).value(), .bytes = 16}},
                     .ranges = {{.first = 0, .count = 4}},
                     .client = {},
                     .rivals = {},
                     .paid = paid,
                     .waits_for_second = waits});
    return answer.get_future().get();
  };
  for (const bool paid : {false, true}) {
    const jobs::Checked first = check(paid, true, 1);
    EXPECT_EQ(first.outcome, trust::AuditOutcome::failed);
    EXPECT_TRUE(first.late);
    EXPECT_EQ(first.reason, "It takes too long.");

    const jobs::Checked again = check(paid, true, 0);
    EXPECT_EQ(again.outcome, trust::AuditOutcome::differs);
    EXPECT_EQ(again.devices, trust::Devices::two);

    const jobs::Checked last = check(paid, false, 1);
    EXPECT_EQ(last.outcome, trust::AuditOutcome::differs) << "the first device's word";
    EXPECT_EQ(last.devices, trust::Devices::one);
  }
}

// A worker knows the result of a search that finds nothing without searching. If the shader also
// writes a mark of its work, only a worker that did the work knows the mark of each workgroup.
TEST_F(DevicesNetwork,
       AWorkerThatOnlySaysThatNothingWasFoundIsConvictedWhereTheShaderMarksItsWork) {
  for (const bool marks : {true, false}) {
    open();
    const auto found = [marks](std::uint32_t first, std::uint32_t count) {
      ByteVector bytes;
      for (std::uint32_t i = first; i < first + count; ++i) {
        append_le(bytes, std::uint32_t{0});
        append_le(bytes, marks ? i * 0x9e3779b1U + 1 : 0U);
      }
      return bytes;
    };
    network->verifier_compute = [found](manifest::Range range) {
      return found(range.first, range.count);
    };
    std::string manifest = jobs::count_manifest(tasks, 1);
    const std::string shape = weft::format(R"("shape":[{}])", tasks * 4);
    manifest.replace(manifest.find(shape), shape.size(),
                     weft::format(R"("shape":[{},2])", tasks * 4));

    TestWorker& idle = play(manifest,
                            {.compute =
                                 [](const protocol::LeasedTask& task) {
                                   return ByteVector(std::size_t{8} * task.count);
                                 }},
                            {.compute = [found](const protocol::LeasedTask& task) {
                              return found(task.first, task.count);
                            }});

    EXPECT_EQ(last.state, store::JobState::done) << last.reason;
    EXPECT_EQ(suspended(idle), marks);
    EXPECT_EQ(owned(idle) > 0, !marks);
  }
}

}  // namespace
}  // namespace weft::coordinator
