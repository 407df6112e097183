// Tests of the connected workers: the order of messages to a worker, the list of workers that have
// left, and the places that are kept for known workers.
#include "decisions/jobs/connected_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(ConnectedWorkers, ALeaseGoesOutAtOnceUnlessAMessageWaits) {
  TestTables test;
  test.connect(1);
  test.tables.workers.send_early(TestTables::key(1), protocol::Lease{});
  EXPECT_THAT(test.world.sent, SizeIs(1)) << "it acknowledges nothing";

  test.tables.workers.send(TestTables::key(1), protocol::Cancel{});
  test.tables.workers.send_early(TestTables::key(1), protocol::Lease{});
  EXPECT_THAT(test.world.sent, SizeIs(1)) << "both wait for the commit";
  test.land();

  ASSERT_THAT(test.world.sent, SizeIs(3));
  EXPECT_TRUE(std::holds_alternative<protocol::Cancel>(test.world.sent[1].second));
  EXPECT_TRUE(std::holds_alternative<protocol::Lease>(test.world.sent[2].second));
}

TEST(ConnectedWorkers, ALeaseMayComeBeforeAVerdict) {
  TestTables test;
  test.connect(1);
  test.tables.workers.send(TestTables::key(1), protocol::Verdict{});
  test.tables.workers.send_early(TestTables::key(1), protocol::Lease{});

  ASSERT_THAT(test.world.sent, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<protocol::Lease>(test.world.sent[0].second));
}

TEST(ConnectedWorkers, OneThatLeftIsShownUntilItComesBackOrOthersLeaveAfterIt) {
  CoreSettings settings;
  settings.departed_max = 1;
  TestTables test(settings);
  for (std::uint8_t number = 1; number <= 2; ++number) {
    test.connect(number);
    test.tables.workers.remove(TestTables::key(number), {.key = TestTables::key(number).text(),
                                                         .kind = {},
                                                         .device = {},
                                                         .description = {},
                                                         .connected = true});
  }
  ASSERT_THAT(test.tables.workers.departed(), SizeIs(1));
  EXPECT_EQ(test.tables.workers.departed().front().key, TestTables::key(2).text());
  EXPECT_FALSE(test.tables.workers.departed().front().connected);
  EXPECT_EQ(test.book.worker_of("token-2"), std::nullopt) << "its token is worth nothing";

  ConnectedWorker again;
  again.session = SessionId(9);
  again.hello.key = TestTables::key(2);
  test.tables.workers.add(std::move(again));

  EXPECT_THAT(test.tables.workers.departed(), IsEmpty());
  EXPECT_NE(test.tables.workers.of_session(SessionId(9)), nullptr);
}

TEST(ConnectedWorkers, AShareOfThePlacesIsForKnownOnes) {
  CoreSettings settings;
  settings.workers_max = 4;
  settings.workers_known_share = 0.5;
  TestTables test(settings);
  test.connect(1);
  test.connect(2);

  EXPECT_FALSE(test.tables.workers.room_for(true));
  EXPECT_TRUE(test.tables.workers.room_for(false));
  test.book.set_known(TestTables::key(1), true);
  EXPECT_TRUE(test.tables.workers.room_for(true)) << "one of the two is no newcomer";
}

}  // namespace
}  // namespace weft::jobs
