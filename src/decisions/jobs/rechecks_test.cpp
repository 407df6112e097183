// The tasks that a convicted worker was paid for are computed again: every task once, a bounded
// number at a time. The amount that the conviction took is divided among the clients of wrong
// tasks.
#include "decisions/jobs/rechecks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr UnixMillis day = 86'400'000;

PublicKey worker(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
std::shared_ptr<const PaidTask> task(std::uint32_t index) {
  auto paid = std::make_shared<PaidTask>();
  paid->task.index = index;
  return paid;
}

TEST(Rechecks, LooksAWorkersTasksUpPageByPageAndIsCompleteWhenAllAreComputed) {
  Rechecks rechecks;
  rechecks.begin(worker(1), 2 * day);

  const auto first = rechecks.lookups();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].since, day);
  EXPECT_EQ(first[0].until, 2 * day);
  EXPECT_FALSE(first[0].after);
  EXPECT_THAT(rechecks.lookups(), IsEmpty()) << "it is being looked up";
  EXPECT_TRUE(rechecks.wait_for(worker(1), task(0)));
  EXPECT_TRUE(rechecks.wait_for(worker(1), task(1)));
  EXPECT_FALSE(rechecks.wait_for(worker(1), task(1))) << "each task is computed once";
  rechecks.found(worker(1), {task(0)->task, task(1)->task});
  EXPECT_THAT(rechecks.lookups(), IsEmpty()) << "the page is not computed yet";
  EXPECT_THAT(rechecks.computed(task(0)->task), ElementsAre(worker(1)));
  EXPECT_THAT(rechecks.computed(task(1)->task), ElementsAre(worker(1)));

  const auto second = rechecks.lookups();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].after, task(1)->task);
  EXPECT_THAT(rechecks.complete(2 * day), IsEmpty());
  rechecks.found(worker(1), {});

  EXPECT_THAT(rechecks.complete(2 * day), SizeIs(1));
  EXPECT_EQ(rechecks.size(), 0U);
}

TEST(Rechecks, GoesOnWhereItWasAfterARestart) {
  Rechecks rechecks;
  rechecks.begin(worker(1), 2 * day);
  rechecks.took(worker(1), 70);
  (void)rechecks.lookups();
  rechecks.found(worker(1), {task(4)->task});
  const auto rows = rechecks.changed();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rechecks.changed(), IsEmpty());

  Rechecks later;
  later.restore(rows[0]);

  const auto wanted = later.lookups();
  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_EQ(wanted[0].after, task(4)->task);
  later.found(worker(1), {});
  const auto over = later.complete(2 * day);
  ASSERT_THAT(over, SizeIs(1));
  EXPECT_EQ(over[0].taken, 70);
}

TEST(Rechecks, APageThatIsNotComputedYetIsLookedUpAgainAfterARestart) {
  Rechecks rechecks;
  rechecks.begin(worker(1), 2 * day);
  (void)rechecks.lookups();
  (void)rechecks.wait_for(worker(1), task(4));
  rechecks.found(worker(1), {task(4)->task});
  Rechecks later;
  later.restore(rechecks.changed().at(0));

  const auto wanted = later.lookups();

  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_FALSE(wanted[0].after);
  (void)rechecks.computed(task(4)->task);
  EXPECT_EQ(rechecks.changed().at(0).last, task(4)->task);
}

TEST(Rechecks, AThousandConvictedWorkersTakeTurnsAndOneHasABoundOfTasks) {
  Rechecks rechecks;
  for (std::uint8_t number = 0; number < 100; ++number) rechecks.begin(worker(number), 2 * day);
  EXPECT_THAT(rechecks.lookups(), SizeIs(Rechecks::active_max));
  EXPECT_THAT(rechecks.lookups(), IsEmpty());
  rechecks.found(worker(0), {});
  EXPECT_THAT(rechecks.lookups(), SizeIs(1)) << "the next one's turn";

  for (std::uint32_t i = 0; i < Rechecks::tasks_max; ++i) ASSERT_TRUE(rechecks.has_room(worker(1)));
  EXPECT_FALSE(rechecks.has_room(worker(1)));
}

TEST(Rechecks, ATaskOfTwoConvictedWorkersIsComputedOnceForBoth) {
  Rechecks rechecks;
  rechecks.begin(worker(1), 2 * day);
  rechecks.begin(worker(2), 2 * day);
  EXPECT_TRUE(rechecks.wait_for(worker(1), task(0)));
  EXPECT_FALSE(rechecks.wait_for(worker(2), task(0)));

  EXPECT_THAT(rechecks.computed(task(0)->task), ElementsAre(worker(1), worker(2)));

  EXPECT_THAT(rechecks.computed(task(0)->task), IsEmpty());
}

TEST(Rechecks, OfASuspectComeAfterThoseOfTheConvictedAndClientsTakeTurns) {
  Rechecks rechecks;
  // Many suspects because of one client's jobs, then one because of another's.
  for (std::uint8_t number = 1; number <= 8; ++number)
    (void)rechecks.begin_suspect(worker(number), worker(101), 2 * day);
  (void)rechecks.begin_suspect(worker(50), worker(102), 2 * day);
  rechecks.begin(worker(60), 2 * day);

  const auto wanted = rechecks.lookups();

  ASSERT_THAT(wanted, SizeIs(Rechecks::active_max));
  EXPECT_EQ(wanted[0].worker, worker(60));
  EXPECT_EQ(wanted[1].worker, worker(1));
  EXPECT_EQ(wanted[2].worker, worker(50));
  EXPECT_EQ(wanted[3].worker, worker(2));
}

TEST(Rechecks, OfASuspectThatIsConvictedMeanwhileGoOnWithWhatItWasGivenSince) {
  Rechecks rechecks;
  (void)rechecks.begin_suspect(worker(1), worker(101), 2 * day);
  ASSERT_THAT(rechecks.lookups(), SizeIs(1));
  rechecks.begin(worker(1), 2 * day + 5000);
  rechecks.took(worker(1), 70);
  EXPECT_TRUE(rechecks.wait_for(worker(1), task(0)));
  rechecks.found(worker(1), {task(0)->task});
  (void)rechecks.computed(task(0)->task);
  ASSERT_THAT(rechecks.lookups(), SizeIs(1));
  rechecks.found(worker(1), {});

  EXPECT_THAT(rechecks.complete(2 * day + 6000), IsEmpty());
  const auto rest = rechecks.lookups();
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].since, 2 * day);
  EXPECT_EQ(rest[0].until, 2 * day + 5000);
  rechecks.found(worker(1), {});
  const auto over = rechecks.complete(2 * day + 7000);

  ASSERT_THAT(over, SizeIs(1));
  EXPECT_EQ(over[0].taken, 70);
}

// Otherwise a worker's second wrong result within ten minutes of the first would have no
// consequence.
TEST(Rechecks, OfAWorkerThatIsSuspectedAgainGoOnWithWhatItWasGivenSince) {
  Rechecks rechecks;
  EXPECT_TRUE(rechecks.begin_suspect(worker(1), worker(101), 2 * day));
  (void)rechecks.lookups();
  rechecks.found(worker(1), {});
  EXPECT_THAT(rechecks.take_computed_suspects(), SizeIs(1));

  EXPECT_TRUE(rechecks.begin_suspect(worker(1), worker(102), 2 * day + 5000));
  EXPECT_THAT(rechecks.complete(2 * day + Rechecks::settles_after), IsEmpty());

  const auto rest = rechecks.lookups();
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].since, 2 * day);
  EXPECT_EQ(rest[0].until, 2 * day + 5000);
  rechecks.found(worker(1), {});
  EXPECT_THAT(rechecks.take_computed_suspects(), SizeIs(1)) << "Its second client has room again.";

  rechecks.begin(worker(2), 2 * day);
  EXPECT_FALSE(rechecks.begin_suspect(worker(2), worker(101), 2 * day));
}

TEST(Rechecks, OfASuspectAreSettledWhenItHadTheTimeToBeConvicted) {
  Rechecks rechecks;
  (void)rechecks.begin_suspect(worker(1), worker(101), 2 * day);
  (void)rechecks.lookups();
  EXPECT_THAT(rechecks.take_computed_suspects(), IsEmpty());
  rechecks.found(worker(1), {});

  EXPECT_THAT(rechecks.take_computed_suspects(), SizeIs(1));
  EXPECT_THAT(rechecks.take_computed_suspects(), IsEmpty()) << "once";
  EXPECT_THAT(rechecks.complete(2 * day + Rechecks::settles_after - 1), IsEmpty());
  EXPECT_THAT(rechecks.complete(2 * day + Rechecks::settles_after), SizeIs(1));
}

TEST(Rechecks, ClientsShareWhatAConvictionTook) {
  EXPECT_EQ(refund_of(30, 50, 100), 30);
  EXPECT_EQ(refund_of(30, 50, 50), 30);
  EXPECT_EQ(refund_of(30, 50, 20), 12);
  EXPECT_EQ(refund_of(20, 50, 20), 8);
  EXPECT_EQ(refund_of(30, 50, 0), 0);
  constexpr MicroCredits large = 4'000'000'000'000'000'000;
  EXPECT_EQ(refund_of(large, large, large / 2), large / 2);
}

}  // namespace
}  // namespace weft::jobs
