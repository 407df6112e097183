// Tests that a weight belongs to the owner, is durable, and is replaced only by a later one.
#include "decisions/jobs/client_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::SizeIs;

struct ClientWeightsTest : testing::Test {
  Result<protocol::api::Client> set(double weight, UnixMillis at) {
    return test.answer<protocol::api::Client>([&](Answer<protocol::api::Client> answer) {
      weights.set({.client = TestTables::key(1), .weight = weight, .at = at}, test.now,
                  std::move(answer));
    });
  }
  static CoreSettings given() {
    CoreSettings settings;
    settings.client_weights[TestTables::key(1)] = 3;
    return settings;
  }

  TestTables test{given()};
  ClientWeights weights{test.tables};
};

TEST_F(ClientWeightsTest, WhatIsSetComesBeforeWhatTheCoordinatorWasStartedWith) {
  EXPECT_EQ(weights.of(TestTables::key(1)), 3);
  EXPECT_EQ(weights.of(TestTables::key(2)), 1);

  ASSERT_TRUE(set(5, test.now.unix));

  EXPECT_EQ(weights.of(TestTables::key(1)), 5);
  ASSERT_THAT(test.world.stored.client_weights, SizeIs(1));
  EXPECT_EQ(test.world.stored.client_weights[0].weight, 5);
}

TEST_F(ClientWeightsTest, AnEarlierOneChangesNothing) {
  ASSERT_TRUE(set(5, test.now.unix));

  EXPECT_EQ(set(7, test.now.unix - 1).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(set(5, test.now.unix)) << "the same one again";
  EXPECT_THAT(test.world.stored.client_weights, SizeIs(1));
}

TEST_F(ClientWeightsTest, ImpossibleOnesAreRefused) {
  EXPECT_EQ(set(0, test.now.unix).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(set(5, test.now.unix + 11 * 60 * 1000).error().code, ErrorCode::invalid_argument);
  const std::vector<store::ClientWeight> row{{.client = TestTables::key(1), .weight = 0, .at = 1}};
  EXPECT_EQ(weights.restore(row).error().code, ErrorCode::data_loss);
}

}  // namespace
}  // namespace weft::jobs
