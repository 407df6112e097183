// Tests checks that the coordinator's verifier did not finish, event by event: when they are
// requested again and from which workers, and when they are given up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "decisions/jobs/test_core.h"
#include "decisions/jobs/verification_leases.h"

namespace weft::jobs {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view took_too_long = "It took longer than 5000 ms and was ended.";

Checked late() { return {.reason = std::string(took_too_long), .late = true}; }

// Workers with these numbers are established.
Restored established(std::initializer_list<std::uint8_t> numbers) {
  Restored restored;
  for (const std::uint8_t number : numbers)
    restored.rows.standings.push_back(
        {.worker = CoreAlone::worker(number), .verified = 1000, .updated = 1'000'000'000'000});
  return restored;
}

class CoreLate : public testing::Test {
 protected:
  void open(Restored restored = {}) {
    alone = std::make_unique<CoreAlone>(std::move(restored), CoreAlone::Verifier::here,
                                        CoreAlone::Count::levels);
  }
  JobId submit(std::uint32_t tasks, std::uint32_t replicas) {
    const auto submission = CoreAlone::submission(count_manifest(tasks, replicas));
    EXPECT_TRUE(alone->submit(submission).has_value());
    alone->pass(seconds(1));
    return submission.id;
  }
  void measure(const JobId& job) {
    alone->core().checks().measured(
        job,
        scheduler::Measurement{.workgroups = 4, .gpu_seconds = 0.001, .elapsed_seconds = 0.001},
        alone->now);
    alone->pass(seconds(1));
  }
  // Delivers the results of all tasks that the named workers were leased since the last call.
  void work(std::initializer_list<std::uint8_t> numbers, std::uint8_t wrong = 0) {
    for (const std::uint8_t number : numbers) {
      const auto leases = alone->told<protocol::Lease>(number);
      for (std::size_t& i = done[number]; i < leases.size(); ++i) {
        for (const auto& task : leases[i].tasks) {
          ByteVector bytes;
          for (std::uint32_t at = task.first; at < task.first + task.count; ++at)
            append_le(bytes, at ^ (number == wrong ? 0x80U : 0U));
          alone->deliver(number, leases[i], task, bytes);
        }
      }
    }
    alone->pass(seconds(1));
  }
  [[nodiscard]] std::size_t orders() const { return alone->verifications.size(); }
  void answer(const Checked& checked) {
    const VerifyOrder order = alone->verifications.back();
    alone->core().checks().verified(order.task, order.root, checked, alone->now);
    alone->run();
  }
  [[nodiscard]] std::size_t leases(std::uint8_t number) const {
    return alone->told<protocol::Lease>(number).size();
  }

  std::unique_ptr<CoreAlone> alone;
  std::map<std::uint8_t, std::size_t> done;
};

TEST_F(CoreLate, ASampleIsAskedForAgainAfterPausesThatDoubleAndDecidesAsEver) {
  open();
  alone->arrive(1);
  measure(submit(1, 1));
  work({1});
  ASSERT_EQ(orders(), 1U);
  const auto drawn = alone->verifications.front().ranges;
  std::size_t asked = 1;
  for (const int pause : {10, 20, 40, 80, 160, 320, 600, 600}) {
    answer(late());
    alone->pass(seconds(pause) - std::chrono::milliseconds(1));
    EXPECT_EQ(orders(), asked) << pause;

    alone->pass(std::chrono::milliseconds(1));

    EXPECT_EQ(orders(), ++asked) << pause;
    EXPECT_EQ(alone->verifications.back().ranges, drawn) << "the same parts";
    alone->pass(std::chrono::hours(1));
    EXPECT_EQ(orders(), asked) << "it has it";
  }

  answer({.outcome = trust::AuditOutcome::agrees});

  EXPECT_THAT(alone->stored.tasks, SizeIs(1));
  EXPECT_THAT(alone->stored.checks, SizeIs(2)) << "the first late one, and the last";
}

TEST_F(CoreLate, WhatTheVerifierCannotDoIsNotAskedForAgain) {
  open();
  alone->arrive(1);
  measure(submit(1, 1));
  work({1});
  answer({.reason = "The device has no f16."});

  alone->pass(std::chrono::hours(1));

  EXPECT_EQ(orders(), 1U);
}

TEST_F(CoreLate, ATrustedWorkerIsAskedFirstAndTheVerifierAgainIfThatIsSilent) {
  open(established({2, 3}));
  alone->arrive(1);
  measure(submit(1, 1));
  work({1});
  ASSERT_EQ(orders(), 1U);
  alone->arrive(2);
  alone->arrive(3);
  answer(late());
  EXPECT_EQ(leases(2) + leases(3), 1U);
  alone->pass(seconds(30));
  EXPECT_EQ(orders(), 1U) << "it has the time that a task has";

  alone->pass(std::chrono::hours(1));

  EXPECT_EQ(orders(), 2U);
}

TEST_F(CoreLate, WhatTwoEstablishedWorkersAgreeOnWaitsForAFewTriesAndIsBelievedThen) {
  open(established({1, 2}));
  alone->arrive(1);
  alone->arrive(2);
  submit(1, 2);
  work({1, 2});
  work({1, 2});
  ASSERT_EQ(orders(), 1U) << "a root looks at a part";
  for (const int pause : {10, 20, 40}) {
    answer(late());
    EXPECT_THAT(alone->stored.tasks, IsEmpty()) << "the verifier may look in a moment";
    alone->pass(seconds(pause));
  }
  ASSERT_EQ(orders(), 4U);

  answer(late());

  EXPECT_THAT(alone->stored.tasks, SizeIs(1));
}

TEST_F(CoreLate, ResultsThatDifferGoToTrustedWorkersAfterAFewTries) {
  open(established({3}));
  alone->arrive(1, "192.0.2.0/24");
  alone->arrive(2, "198.51.100.0/24");
  measure(submit(1, 2));
  work({1, 2}, 2);
  work({1, 2}, 2);
  ASSERT_EQ(orders(), 1U);
  EXPECT_THAT(alone->verifications.back().rivals, SizeIs(1));
  for (const int pause : {10, 20, 40, 80, 160}) {
    answer(late());
    alone->pass(seconds(pause));
    EXPECT_THAT(alone->verifications.back().rivals, SizeIs(1)) << "each of the others once";
  }
  EXPECT_EQ(orders(), 6U) << "no trusted worker is here";
  alone->arrive(3);
  EXPECT_THAT(alone->told<protocol::Lease>(3), IsEmpty());

  answer(late());
  alone->pass(seconds(1));

  EXPECT_THAT(alone->told<protocol::Lease>(3), SizeIs(1)) << "it computes the task again";
}

TEST_F(CoreLate, ACanaryIsMeasuredAgainUntilAWorkerHasShownWhatTheJobTakes) {
  open(established({2}));
  alone->arrive(1);
  const JobId job = submit(4, 1);
  std::size_t asked = 1;
  for (const int pause : {10, 20, 40}) {
    ASSERT_THAT(alone->measurements, SizeIs(asked));
    alone->core().checks().measured(job, fail(ErrorCode::deadline_exceeded, "{}", took_too_long),
                                    alone->now);
    alone->pass(seconds(pause) - std::chrono::milliseconds(1));
    EXPECT_THAT(alone->measurements, SizeIs(asked)) << pause;
    alone->pass(std::chrono::milliseconds(1));
    EXPECT_THAT(alone->measurements, SizeIs(++asked)) << pause;
  }
  alone->core().checks().measured(job, fail(ErrorCode::deadline_exceeded, "{}", took_too_long),
                                  alone->now);
  EXPECT_THAT(alone->told<protocol::Lease>(1), IsEmpty());

  alone->arrive(2);
  work({2});
  alone->pass(std::chrono::hours(1));

  EXPECT_THAT(alone->measurements, SizeIs(asked)) << "a worker has shown it";
}

}  // namespace
}  // namespace weft::jobs
