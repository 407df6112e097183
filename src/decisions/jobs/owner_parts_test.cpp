// Requests of owners about themselves: a payment moves free credits once, a device joins an owner
// only without a job of its own, and data are deleted only while nothing is under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/owner_records.h"
#include "decisions/jobs/owner_requests.h"
#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

struct OwnerPartsTest : testing::Test {
  Result<OwnerView> pay(MicroCredits amount, std::uint8_t to = 2) {
    return test.answer<OwnerView>([&](Answer<OwnerView> answer) {
      requests.pay(
          {.by = TestTables::key(1), .to = TestTables::key(to), .amount = amount, .number = 4},
          test.now, std::move(answer));
    });
  }
  Result<OwnerView> add_device(std::uint8_t number) {
    return test.answer<OwnerView>([&](Answer<OwnerView> answer) {
      requests.add_device(TestTables::key(1), TestTables::owner(1),
                          {.key = TestTables::key(number), .owner = {}, .name = "another"},
                          test.now, std::move(answer));
    });
  }
  Result<OwnerView> forget() {
    return test.answer<OwnerView>([&](Answer<OwnerView> answer) {
      records.forget(TestTables::key(1), test.now, std::move(answer));
    });
  }

  TestTables test;
  Grants grants{test.tables};
  ClientKeys keys{test.tables, grants};
  ClientWeights weights{test.tables};
  ClaimsAsSaid claims;
  Stakes stakes{test.tables, claims};
  JobPrices prices{test.tables};
  JobWatch watch{test.tables, prices};
  NoCheckLeases checks;
  WorkerSessions sessions{test.tables, watch, checks};
  WorkerPresence presence{test.tables};
  OwnerRequests requests{test.tables, keys, sessions};
  OwnerRecords records{test.tables, keys, weights, stakes, presence, claims};
};

TEST_F(OwnerPartsTest, APaymentMovesFreeCreditsOnce) {
  test.issue(1, 100);

  ASSERT_TRUE(pay(60));
  ASSERT_TRUE(pay(60)) << "the same request again";

  EXPECT_EQ(test.spendable(1), 40);
  EXPECT_EQ(test.spendable(2), 60);
  EXPECT_EQ(pay(10, 1).error().code, ErrorCode::invalid_argument) << "to itself";
  EXPECT_EQ(pay(0).error().code, ErrorCode::invalid_argument);
}

TEST_F(OwnerPartsTest, GrantedCreditsAreNotPaidToOthers) {
  ASSERT_TRUE(test.tables.accounts.move(ledger::grant(TestTables::owner(1), 100), test.now));

  EXPECT_EQ(pay(60).error().code, ErrorCode::insufficient_funds);
}

TEST_F(OwnerPartsTest, AKeyWithCreditsOrAJobOfItsOwnJoinsNoOwner) {
  test.issue(1, 100);
  test.issue(2, 1);
  EXPECT_EQ(add_device(2).error().code, ErrorCode::invalid_argument);
  test.run(1, 3, count_manifest(1, 1));
  EXPECT_EQ(add_device(3).error().code, ErrorCode::invalid_argument);

  const auto added = add_device(4);

  ASSERT_TRUE(added) << added.error().message;
  EXPECT_THAT(added->devices, SizeIs(2));
  EXPECT_EQ(test.tables.accounts.owner_of(TestTables::key(4)), TestTables::owner(1));
}

TEST_F(OwnerPartsTest, ARevokedDeviceIsDisconnected) {
  test.issue(1, 100);
  ASSERT_TRUE(add_device(4));
  test.connect(4);

  const auto revoked = test.answer<OwnerView>([&](Answer<OwnerView> answer) {
    requests.revoke_device(TestTables::key(1), TestTables::key(4), test.now, std::move(answer));
  });

  ASSERT_TRUE(revoked) << revoked.error().message;
  EXPECT_FALSE(test.tables.workers.contains(TestTables::key(4)));
  ASSERT_THAT(test.world.closed, SizeIs(1));
  EXPECT_EQ(test.world.closed[0].second, "This device was revoked by its owner.");
  EXPECT_THAT(checks.left, ElementsAre(TestTables::key(4)));
}

TEST_F(OwnerPartsTest, NothingIsDeletedWhileSomethingIsUnderWay) {
  test.run(1, 1, count_manifest(1, 1));
  EXPECT_EQ(forget().error().code, ErrorCode::unavailable);
  test.tables.jobs.remove(TestTables::job_id(1));
  claims.waiting = TestTables::key(1);
  EXPECT_EQ(forget().error().code, ErrorCode::unavailable);
  claims.waiting.reset();
  test.connect(1);
  EXPECT_EQ(forget().error().code, ErrorCode::unavailable);
  sessions.left(SessionId(1), true, test.now);

  ASSERT_TRUE(forget());

  EXPECT_THAT(test.world.stored.clients_forgotten, ElementsAre(TestTables::key(1)));
  EXPECT_THAT(test.tables.workers.departed(), SizeIs(0));
}

TEST_F(OwnerPartsTest, AnOwnerIsShownItsWorkersAndWeights) {
  test.connect(1);
  ASSERT_TRUE(test.answer<protocol::api::Client>([&](Answer<protocol::api::Client> answer) {
    weights.set({.client = TestTables::key(1), .weight = 2, .at = test.now.unix}, test.now,
                std::move(answer));
  }));

  const auto data = test.answer<OwnerData>([&](Answer<OwnerData> answer) {
    records.show(TestTables::key(1), test.now, std::move(answer));
  });

  ASSERT_TRUE(data);
  ASSERT_THAT(data->workers, SizeIs(1));
  EXPECT_TRUE(data->workers[0].view.connected);
  EXPECT_THAT(data->weights, SizeIs(1));
}

}  // namespace
}  // namespace weft::jobs
