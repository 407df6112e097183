// Tests that effects go out in the order in which they were decided, and none before its rows are
// durable.
#include "decisions/jobs/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct OutboxTest : testing::Test {
  void row() { outbox.batch().clients_forgotten.push_back(TestTables::key(1)); }
  void effect(int number) {
    outbox.effect([this, number] { done.push_back(number); });
  }

  RecordingWorld world;
  Outbox outbox{world, 2};
  std::vector<int> done;
};

TEST_F(OutboxTest, AnEffectWaitsForTheRowsOfItsFlush) {
  row();
  effect(1);
  outbox.flush();
  EXPECT_THAT(done, IsEmpty());

  world.landing.at(0)({});

  EXPECT_THAT(done, ElementsAre(1));
  EXPECT_EQ(outbox.commits(), 1U);
}

TEST_F(OutboxTest, AFlushWithoutRowsWaitsForTheFlushesBeforeIt) {
  row();
  effect(1);
  outbox.flush();
  effect(2);
  outbox.flush();
  EXPECT_THAT(done, IsEmpty());

  world.landing.at(0)({});

  EXPECT_THAT(done, ElementsAre(1, 2));
  EXPECT_EQ(outbox.commits(), 1U) << "nothing was handed to the store for the second one";
}

TEST_F(OutboxTest, EffectsKeepTheirOrderIfTheStoreAnswersOutOfOrder) {
  row();
  effect(1);
  outbox.flush();
  row();
  effect(2);
  outbox.flush();

  world.landing.at(1)({});
  EXPECT_THAT(done, IsEmpty());
  world.landing.at(0)({});

  EXPECT_THAT(done, ElementsAre(1, 2));
}

TEST_F(OutboxTest, RowsGatherWhileAsManyFlushesAsMayBeAreOnTheirWay) {
  for (int flush = 0; flush < 3; ++flush) {
    row();
    outbox.flush();
  }
  EXPECT_EQ(world.landing.size(), 2U);
  EXPECT_EQ(outbox.batch().clients_forgotten.size(), 1U) << "the third one waits";

  world.landing.at(0)({});
  outbox.flush();

  EXPECT_EQ(world.landing.size(), 3U);
}

TEST_F(OutboxTest, NothingGoesOutAfterACommitThatFailed) {
  row();
  effect(1);
  outbox.flush();

  world.landing.at(0)(fail(ErrorCode::unavailable, "The disk is full."));
  effect(2);
  outbox.flush();

  EXPECT_THAT(done, IsEmpty());
  EXPECT_TRUE(outbox.is_broken());
  EXPECT_THAT(world.fatal_errors, ElementsAre("The disk is full."));
}

}  // namespace
}  // namespace weft::jobs
