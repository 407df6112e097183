// Tests workers that come and go: a second connection replaces the first, a suspended worker gets
// no task until its suspension is over, and a pardon ends a suspension at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/standings.h"
#include "decisions/jobs/test_tables.h"
#include "decisions/jobs/worker_presence.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct WorkerPartsTest : testing::Test {
  void arrive(std::uint64_t session, std::uint8_t number) {
    Arrival arrival{.session = SessionId(session), .hello = {}, .blob_token = "token"};
    arrival.hello.key = TestTables::key(number);
    arrival.hello.slots = 4;
    arrival.hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
    arrival.hello.capabilities.f32_gflop_per_s = 1000;
    arrival.invitation = trust::Invitation::worker;
    sessions.arrive(std::move(arrival), test.now);
  }
  void suspend(std::uint8_t number, UnixMillis until) {
    test.tables.trust.standing().book().restore(
        TestTables::key(number),
        {.verified = 0, .updated = test.now.unix - 1, .wrong = 1, .suspended_until = until});
    sessions.refresh(TestTables::key(number), test.now);
  }
  // True if the worker is leased a task of a waiting job.
  bool is_leased() { return !test.leases().empty(); }

  TestTables test;
  JobPrices prices{test.tables};
  JobWatch watch{test.tables, prices};
  NoCheckLeases checks;
  WorkerSessions sessions{test.tables, watch, checks};
  ClaimsAsSaid claims;
  Stakes stakes{test.tables, claims};
  Standings standings{test.tables, stakes, sessions};
  WorkerPresence presence{test.tables};
};

TEST_F(WorkerPartsTest, ASecondConnectionReplacesTheFirst) {
  arrive(1, 5);
  arrive(2, 5);
  test.land();

  EXPECT_THAT(test.world.closed, SizeIs(1));
  EXPECT_EQ(test.world.closed[0].first, SessionId(1));
  EXPECT_THAT(test.world.told<protocol::Welcome>(SessionId(2)), SizeIs(1));
  EXPECT_EQ(test.tables.workers.size(), 1U);
  EXPECT_EQ(test.tables.workers.of_session(SessionId(1)), nullptr);
  EXPECT_THAT(checks.left, ElementsAre(TestTables::key(5)));
  EXPECT_EQ(checks.came, 2) << "an invited worker may do checks";
}

TEST_F(WorkerPartsTest, ASuspendedWorkerGetsNothingUntilItIsOver) {
  test.schedule(1, 9, count_manifest(1, 1));
  arrive(1, 5);
  suspend(5, test.now.unix + 60'000);
  EXPECT_FALSE(is_leased());
  EXPECT_EQ(sessions.next_suspension_end(), test.now.unix + 60'000);

  test.pass(std::chrono::seconds(61));
  sessions.beat(SessionId(1), test.now);
  sessions.end_suspensions(test.now);

  EXPECT_TRUE(is_leased());
  EXPECT_EQ(sessions.next_suspension_end(), std::nullopt);
}

TEST_F(WorkerPartsTest, APardonEndsASuspensionAtOnce) {
  test.schedule(1, 9, count_manifest(1, 1));
  arrive(1, 5);
  suspend(5, test.now.unix + 60'000);
  const auto pardon = [&](UnixMillis at) {
    return test.answer<StakeView>([&](Answer<StakeView> answer) {
      standings.pardon({.worker = TestTables::key(5), .at = at}, test.now, std::move(answer));
    });
  };
  EXPECT_EQ(pardon(test.now.unix - 1).error().code, ErrorCode::already_exists)
      << "it was signed before the conviction";

  const auto done = pardon(test.now.unix);

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->suspended_until, 0);
  EXPECT_TRUE(is_leased());
  EXPECT_THAT(test.world.stored.standings, SizeIs(1));
  EXPECT_EQ(pardon(test.now.unix + 1).error().code, ErrorCode::not_found);
}

TEST_F(WorkerPartsTest, WhatIsStoredOfAStandingIsTakenUpAgain) {
  store::Loaded loaded;
  loaded.standings.push_back({.worker = TestTables::key(5),
                              .verified = 3,
                              .updated = test.now.unix,
                              .wrong = 1,
                              .suspended_until = test.now.unix + 5'000});

  standings.restore(loaded);

  EXPECT_TRUE(test.tables.trust.book().suspended(TestTables::key(5), test.now.unix));
  EXPECT_TRUE(test.book.is_barred(TestTables::key(5), test.now.unix));
}

TEST_F(WorkerPartsTest, WhatANewcomersSamplesHaveEarnedIsStoredAndTakenUpAgain) {
  for (int i = 0; i < 3; ++i) test.tables.trust.standing().sample_passed(TestTables::key(5));
  standings.store(test.now);
  ASSERT_THAT(test.tables.outbox.batch().watches, SizeIs(1));
  store::Loaded loaded;
  loaded.watches = test.tables.outbox.batch().watches;
  loaded.watches[0].worker = TestTables::key(6);

  standings.restore(loaded);

  EXPECT_EQ(test.tables.trust.standing().leases_max(TestTables::key(6), test.now.unix), 4U);
}

TEST_F(WorkerPartsTest, ResumedLeasesAreShownAndTheRefereeIsTold) {
  RunningJob& job = test.schedule(1, 9, count_manifest(2, 1));
  arrive(1, 5);
  const protocol::HeldTask held{.task = {.job = job.row.id, .index = 1}, .attempt = 1};

  sessions.resume(SessionId(1), {held}, test.now);

  EXPECT_THAT(job.leased[1], ElementsAre(TestTables::key(5)));
}

TEST_F(WorkerPartsTest, PresenceIsStoredWhenAWorkerLeavesAndOnceAnHour) {
  arrive(1, 5);
  presence.store(test.now);
  test.tables.outbox.batch() = {};
  test.pass(std::chrono::minutes(61));

  presence.store(test.now);

  ASSERT_THAT(test.tables.outbox.batch().presences, SizeIs(1));
  test.tables.outbox.batch() = {};
  presence.store(test.now);
  EXPECT_THAT(test.tables.outbox.batch().presences, IsEmpty());
  sessions.left(SessionId(1), true, test.now);
  presence.store(test.now);
  EXPECT_THAT(test.tables.outbox.batch().presences, SizeIs(1));
}

TEST_F(WorkerPartsTest, FeaturesAreCountedOverConnectedWorkers) {
  test.connect(1).hello.capabilities.features = {"onnx"};
  test.connect(2);
  std::size_t count = 0;

  sessions.count("onnx", [&](Result<std::size_t> answer) { count = answer.value(); });

  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace weft::jobs
