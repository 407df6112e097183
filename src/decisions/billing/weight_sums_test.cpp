// The sums of likelihood ratios: one for each worker, file and kind of answer, in a bounded table
// whose rows are stored.
#include "decisions/billing/weight_sums.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/proof/smaller_weights.h"

namespace weft::billing {
namespace {

WeightSumKey key(std::uint8_t worker, std::uint8_t file = 0, bool shared = false) {
  WeightSumKey out{.worker = {}, .file = {}, .shared = shared};
  out.worker.bytes[0] = worker;
  out.file.bytes[0] = file;
  return out;
}

TEST(WeightSums, AreApartForEachWorkerFileAndKindOfAnswer) {
  WeightSums sums;
  WeightSums::Rows rows;
  sums.set(key(1), 5, rows);
  EXPECT_EQ(sums.of(key(1)), 5);
  EXPECT_EQ(sums.of(key(2)), 0);
  EXPECT_EQ(sums.of(key(1, 1)), 0);
  EXPECT_EQ(sums.of(key(1, 0, true)), 0);
}

TEST(WeightSums, AreStoredAsRowsAndRestoredFromThem) {
  WeightSums sums;
  WeightSums::Rows rows;
  sums.set(key(1), 5, rows);
  sums.set(key(2, 3, true), 6, rows);
  sums.set(key(1), 0, rows);
  sums.set(key(4), 0, rows);
  ASSERT_EQ(rows.size(), 3U) << "a sum that never was has no row to remove";
  EXPECT_EQ(rows[1].change, store::Change::put);
  EXPECT_EQ(rows[2].change, store::Change::remove);
  EXPECT_EQ(rows[2].row.worker, key(1).worker);

  WeightSums later;
  later.restore(std::vector{rows[1].row});
  EXPECT_EQ(later.of(key(2, 3, true)), 6);
  EXPECT_EQ(later.size(), 1U);
}

TEST(WeightSums, ThatNoProgramWroteAreNotRestored) {
  WeightSums sums;
  const double infinite = std::numeric_limits<double>::infinity();
  sums.restore(std::vector<store::WeightSum>{{.worker = key(1).worker, .file = {}, .sum = -4},
                                             {.worker = key(2).worker, .file = {}, .sum = infinite},
                                             {.worker = key(3).worker, .file = {}, .sum = 1e9}});
  EXPECT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums.of(key(3)), proof::ratio_least);
}

TEST(WeightSums, TheSmallestMakesRoomForANewOne) {
  WeightSums sums(2);
  WeightSums::Rows rows;
  sums.set(key(1), 9, rows);
  sums.set(key(2), 1, rows);
  sums.set(key(3), 4, rows);
  EXPECT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums.of(key(1)), 9);
  EXPECT_EQ(sums.of(key(2)), 0);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2].change, store::Change::remove);
  EXPECT_EQ(rows[2].row.worker, key(2).worker);
}

}  // namespace
}  // namespace weft::billing
