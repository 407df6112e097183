// A key spends its owner's credits. It is made by an owner that holds credits, and its use is a
// row.
#include "decisions/jobs/client_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::SizeIs;

struct ClientKeysTest : testing::Test {
  static billing::ApiKey key_of(std::uint8_t owner) {
    billing::ApiKey key;
    key.id = "0123456789abcdef";
    key.name = "mine";
    key.hash = TestTables::hash(owner);
    key.owner = TestTables::key(owner);
    return key;
  }
  Result<billing::ApiKey> add(billing::ApiKey key,
                              billing::KeyMaker maker = billing::KeyMaker::client,
                              MicroCredits give = 0) {
    return test.answer<billing::ApiKey>([&](Answer<billing::ApiKey> answer) {
      keys.add(std::move(key), maker, give, test.now, std::move(answer));
    });
  }

  TestTables test;
  Grants grants{test.tables};
  ClientKeys keys{test.tables, grants};
};

TEST_F(ClientKeysTest, AnOwnerWithoutCreditsMakesNone) {
  const auto refused = add(key_of(1));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_funds);
  EXPECT_THAT(test.world.stored.api_keys, SizeIs(0));
}

TEST_F(ClientKeysTest, OnlyTheOperatorGivesCreditsWithOne) {
  EXPECT_EQ(add(key_of(1), billing::KeyMaker::client, 50).error().code,
            ErrorCode::permission_denied);

  ASSERT_TRUE(add(key_of(1), billing::KeyMaker::the_operator, 50));

  EXPECT_EQ(test.spendable(1), 50);
  EXPECT_TRUE(keys.has_live_key(TestTables::key(1)));
}

TEST_F(ClientKeysTest, ARevokedKeyIsKnownNoMoreAndIsStored) {
  test.issue(1, 10);
  ASSERT_TRUE(add(key_of(1)));

  const auto other = test.answer<billing::ApiKey>([&](Answer<billing::ApiKey> answer) {
    keys.revoke("0123456789abcdef", TestTables::key(2), test.now, std::move(answer));
  });
  EXPECT_FALSE(other) << "it is another client's";
  const auto revoked = test.answer<billing::ApiKey>([&](Answer<billing::ApiKey> answer) {
    keys.revoke("0123456789abcdef", TestTables::key(1), test.now, std::move(answer));
  });

  ASSERT_TRUE(revoked);
  EXPECT_FALSE(keys.has_live_key(TestTables::key(1)));
  EXPECT_EQ(test.world.stored.api_keys.back().revoked, test.now.unix);
  const auto shown = test.answer<billing::ApiKey>(
      [&](Answer<billing::ApiKey> answer) { keys.show(TestTables::hash(1), std::move(answer)); });
  EXPECT_EQ(shown.error().code, ErrorCode::unauthenticated);
}

TEST_F(ClientKeysTest, WhatAJobRequestMaySpendIsHeldBackUntilItHasEnded) {
  test.issue(1, 1000);
  billing::ApiKey key = key_of(1);
  key.credits_max = 100;
  ASSERT_TRUE(add(key));
  const auto admit = [&] {
    return test
        .answer<billing::JobAdmission>([&](Answer<billing::JobAdmission> answer) {
          keys.admit_job_request({.key = TestTables::hash(1), .budget = 80}, test.now,
                                 std::move(answer));
        })
        .value();
  };
  ASSERT_FALSE(admit().refused);
  const auto second = admit();
  ASSERT_TRUE(second.refused);
  EXPECT_NE(second.refused->error.message.find("Weft-Budget"), std::string::npos);

  keys.job_request_ended("0123456789abcdef", 80, 10, test.now);
  test.land();

  EXPECT_EQ(test.world.stored.api_keys.back().credits, 10);
  EXPECT_FALSE(admit().refused);
}

TEST_F(ClientKeysTest, ForgottenKeysAreRemovedFromTheStore) {
  test.issue(1, 10);
  ASSERT_TRUE(add(key_of(1)));
  keys.forget(TestTables::key(1));
  test.land();

  EXPECT_THAT(test.world.stored.api_keys_removed, testing::ElementsAre("0123456789abcdef"));
}

}  // namespace
}  // namespace weft::jobs
