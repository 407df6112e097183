// Receipts that wait for their results take no more room than they may, whatever they name.
#include "decisions/jobs/coverings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::jobs {
namespace {

Coverings::Attempt attempt(std::uint32_t index) { return {TaskId{.job = {}, .index = index}, 1}; }

Covering covering(std::uint8_t number, std::size_t bytes) {
  Covering made;
  made.receipt.digest.bytes[0] = number;
  made.statement.resize(bytes);
  return made;
}

TEST(Coverings, EachAttemptHasItsLatestReceiptOnce) {
  Coverings coverings;
  const std::vector both{attempt(1), attempt(2), attempt(2)};
  EXPECT_TRUE(coverings.add(covering(1, 100), both).empty());
  EXPECT_TRUE(coverings.add(covering(2, 50), std::vector{attempt(2)}).empty());
  EXPECT_EQ(coverings.bytes(), 150U);

  EXPECT_EQ(coverings.take(attempt(1))->receipt.digest.bytes[0], 1);
  EXPECT_EQ(coverings.take(attempt(2))->receipt.digest.bytes[0], 2);

  EXPECT_EQ(coverings.take(attempt(2)), nullptr);
  EXPECT_EQ(coverings.bytes(), 0U);
  EXPECT_EQ(coverings.attempts(), 0U);
}

TEST(Coverings, AreBoundedInNumberAndTheOldestGoesFirst) {
  Coverings coverings;
  std::vector<Coverings::Attempt> dropped;
  for (std::uint32_t i = 0; i < Coverings::attempts_max + 3; ++i) {
    std::ranges::copy(coverings.add(covering(1, 1), std::vector{attempt(i)}),
                      std::back_inserter(dropped));
  }
  EXPECT_EQ(coverings.attempts(), Coverings::attempts_max);
  EXPECT_EQ(dropped, (std::vector{attempt(0), attempt(1), attempt(2)}));
}

// Each receipt covers thousands of items, and the next receipt covers all of them but one again.
// The statement is kept for that one item.
TEST(Coverings, AreBoundedInBytesThoughEachReceiptLeavesOneItemBehind) {
  Coverings coverings;
  std::vector<Coverings::Attempt> common;
  for (std::uint32_t i = 0; i < 1000; ++i) common.push_back(attempt(1'000'000 + i));
  std::size_t dropped = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    auto attempts = common;
    attempts.push_back(attempt(i));
    dropped += coverings.add(covering(1, 200'000), attempts).size();
    ASSERT_LE(coverings.bytes(), Coverings::bytes_max);
  }
  EXPECT_GT(dropped, 900U);
  EXPECT_NE(coverings.take(attempt(999)), nullptr);
  EXPECT_NE(coverings.take(common.front()), nullptr);
}

TEST(Coverings, OneReceiptMayBeLargerThanAllOfThemMayBeTogether) {
  Coverings coverings;
  EXPECT_TRUE(
      coverings.add(covering(1, Coverings::bytes_max + 1), std::vector{attempt(1), attempt(2)})
          .empty());
  EXPECT_NE(coverings.take(attempt(1)), nullptr);
  EXPECT_NE(coverings.take(attempt(2)), nullptr);
}

}  // namespace
}  // namespace weft::jobs
