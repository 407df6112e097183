// Tests of a verifier that exceeds its time, as on a machine that is busy for a while. Each check
// is repeated, so that jobs of strangers still end, and a waiting job says why. In simulated time,
// with the real sessions, checks and verifier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "decisions/jobs/core_views.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LateChecks : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 16;

  void SetUp() override {
    network.verifier = true;
    network.invitation = trust::Invitation::none;
    network.verifier_compute = [this](manifest::Range range) {
      if (runs_until_busy > 0 && --runs_until_busy == 0) network.verifier_fails = true;
      ByteVector bytes;
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i) append_le(bytes, i);
      return bytes;
    };
  }
  TestWorker& join(const jobs::Behaviour& behaviour = {}) {
    return network.join(
        *keys.emplace_back(std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value())),
        behaviour);
  }
  TestWorker& join_invited() {
    network.invitation = trust::Invitation::worker;
    return join();
  }
  JobId submit(std::uint32_t replicas = 1) {
    const auto submitted = network.submit(client, jobs::count_manifest(tasks, replicas), {1});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return JobId::parse(submitted->id).value();
  }
  protocol::api::Job shown(const JobId& id) {
    protocol::api::Job view;
    view.id = id.text();
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.views().show_job(
          view, now, [&](const Result<protocol::api::Job>& answer) { view = answer.value(); });
    });
    network.run();
    return view;
  }
  void expect_right(const store::Job& job) {
    ASSERT_EQ(job.state, store::JobState::done) << job.reason;
    ByteVector right;
    for (std::uint32_t i = 0; i < tasks * 4; ++i) append_le(right, i);
    EXPECT_EQ(network.output(job), right);
  }

  TestNetwork network{jobs::CoreSettings{}};
  const crypto::KeyPair client = crypto::KeyPair::generate().value();
  std::vector<std::unique_ptr<crypto::KeyPair>> keys;
  int runs_until_busy = 0;  // Number of runs after which the verifier is busy; 0: never.
};

TEST_F(LateChecks, ACanaryThatWasNotMeasuredInTimeIsMeasuredLater) {
  network.verifier_fails = true;
  join();
  const JobId job = submit();
  EXPECT_EQ(network.finish(job, std::chrono::minutes(5)).state, store::JobState::running);
  EXPECT_EQ(shown(job).waiting.reason, "checks");
  EXPECT_THAT(shown(job).waiting.detail,
              HasSubstr("has not finished the measurement of a part after"));

  network.verifier_fails = false;

  expect_right(network.finish(job, std::chrono::minutes(15)));
  EXPECT_THAT(shown(job).waiting.detail, IsEmpty());
}

TEST_F(LateChecks, AResultThatWasNotCheckedInTimeIsCheckedLaterAndTheJobEnds) {
  runs_until_busy = 1;  // The canary is the last run in time.
  TestWorker& stranger = join();
  const JobId job = submit();
  EXPECT_EQ(network.finish(job, std::chrono::seconds(15)).state, store::JobState::running);
  EXPECT_TRUE(network.verifier_fails);
  EXPECT_FALSE(stranger.handed.empty());

  network.verifier_fails = false;

  expect_right(network.finish(job, std::chrono::seconds(60)));
}

TEST_F(LateChecks, AWrongResultIsFoundHoweverLate) {
  runs_until_busy = 1;
  TestWorker& liar = join({.wrong_byte = true});
  const JobId job = submit();
  network.finish(job, std::chrono::seconds(15));

  network.verifier_fails = false;
  join();

  expect_right(network.finish(job, std::chrono::minutes(5)));
  ASSERT_FALSE(liar.verdicts.empty());
  EXPECT_FALSE(liar.verdicts.front().accepted) << liar.verdicts.front().reason;
}

TEST_F(LateChecks, AJobSaysAfterAMinuteWhyItWaitsAndAnInvitedWorkerEndsIt) {
  runs_until_busy = 1;
  join();
  const JobId job = submit();
  network.finish(job, std::chrono::seconds(40));
  EXPECT_THAT(shown(job).waiting.detail, testing::Not(HasSubstr("verifier")));

  network.finish(job, std::chrono::seconds(60));

  const auto waiting = shown(job).waiting;
  EXPECT_EQ(waiting.reason, "checks");
  EXPECT_THAT(
      waiting.detail,
      testing::StartsWith("The coordinator's verifier has not finished the check of task "));
  EXPECT_THAT(waiting.detail, HasSubstr(" after 4 tries (It takes too long) and tries again in "));
  EXPECT_THAT(waiting.detail, HasSubstr("`weft invite`"));
  join_invited();
  expect_right(network.finish(job, std::chrono::minutes(5)));
}

TEST_F(LateChecks, ResultsThatDifferAreTriedAgainBeforeTheyAreDecidedWithoutARoot) {
  runs_until_busy = 1;
  join();
  TestWorker& liar = join({.wrong_byte = true});
  const JobId job = submit(2);
  EXPECT_EQ(network.finish(job, std::chrono::minutes(10)).state, store::JobState::running)
      << "there is no trusted worker";

  network.verifier_fails = false;

  join();
  expect_right(network.finish(job, std::chrono::minutes(30)));
  EXPECT_FALSE(liar.verdicts.empty());
}

}  // namespace
}  // namespace weft::coordinator
