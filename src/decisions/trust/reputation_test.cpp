// Tests that reputation is slow to earn, fades, and is lost at once.
#include "decisions/trust/reputation.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

constexpr UnixMillis day = 24LL * 3600 * 1000;
const PublicKey worker{};

void confirm(ReputationBook& book, int times, UnixMillis now) {
  for (int i = 0; i < times; ++i) book.confirm(worker, 1, now);
}

TEST(Reputation, GrowsWithConfirmedResults) {
  ReputationBook book;
  double before = book.reputation(worker, 0);
  EXPECT_EQ(before, 0);
  for (int i = 0; i < 100; ++i) {
    book.confirm(worker, 1, 0);
    EXPECT_GT(book.reputation(worker, 0), before);
    before = book.reputation(worker, 0);
  }
  EXPECT_NEAR(before, 100.0 / 110, 1e-12);
}

TEST(Reputation, IsEstablishedAfterTenConfirmations) {
  ReputationBook book;
  confirm(book, 9, 0);
  EXPECT_FALSE(book.established(worker, 0));
  confirm(book, 1, 0);
  EXPECT_TRUE(book.established(worker, 0));
}

TEST(Reputation, FadesByHalfInAMonth) {
  ReputationBook book;
  confirm(book, 16, 0);
  EXPECT_NEAR(book.verified(worker, 30 * day), 8, 1e-9);
  EXPECT_FALSE(book.established(worker, 30 * day));
  EXPECT_NEAR(book.verified(worker, -day), 16, 1e-9) << "a clock that was set back adds nothing";
}

TEST(Reputation, EndsWithAWrongResultAndComesBackSlowerEachTime) {
  ReputationBook book;
  confirm(book, 1000, 0);

  book.convict(worker, day);

  EXPECT_EQ(book.reputation(worker, day), 0);
  EXPECT_TRUE(book.suspended(worker, 31 * day - 1));
  EXPECT_FALSE(book.suspended(worker, 31 * day));
  confirm(book, 10, 32 * day);
  EXPECT_FALSE(book.established(worker, 32 * day)) << "twice as much is needed now";
  confirm(book, 10, 32 * day);
  EXPECT_TRUE(book.established(worker, 32 * day));
  book.convict(worker, 40 * day);
  EXPECT_TRUE(book.suspended(worker, 100 * day - 1));
  EXPECT_FALSE(book.suspended(worker, 100 * day));
}

TEST(Reputation, SeveralWrongResultsOfOneEpisodeSuspendOnce) {
  ReputationBook book;
  for (int i = 0; i < 20; ++i) book.convict(worker, i);
  EXPECT_EQ(book.record(worker).wrong, 1U);
  EXPECT_FALSE(book.suspended(worker, 31 * day));
}

TEST(Reputation, CannotBeEarnedWhileSuspended) {
  ReputationBook book;
  book.convict(worker, 0);
  confirm(book, 100, day);
  EXPECT_FALSE(book.established(worker, day));
}

TEST(Reputation, DoubtStartsItAnewWithoutASuspension) {
  ReputationBook book;
  confirm(book, 100, 0);
  book.doubt(worker, 0);
  confirm(book, 10, 0);
  EXPECT_TRUE(book.established(worker, 0));
}

TEST(Reputation, IsStoredWhenItHasMovedAndNotWithEveryResult) {
  ReputationBook book;
  std::size_t stored = 0;
  for (int i = 0; i < 1000; ++i) {
    book.confirm(worker, 1, 0);
    stored += book.take_moved().size();
  }
  EXPECT_GT(stored, 10U);
  EXPECT_LT(stored, 60U);
  book.convict(worker, 0);
  EXPECT_EQ(book.take_moved(), std::vector{worker});
}

TEST(Reputation, IsTakenUpFromWhatWasStored) {
  ReputationBook book;
  confirm(book, 20, day);
  ReputationBook later;
  later.restore(worker, book.record(worker));
  EXPECT_EQ(later.verified(worker, 5 * day), book.verified(worker, 5 * day));
}

}  // namespace
}  // namespace weft::trust
