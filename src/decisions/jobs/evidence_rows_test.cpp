#include "decisions/jobs/evidence_rows.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

OwnerId owner_numbered(std::uint32_t number) {
  OwnerId owner;
  for (int i = 0; i < 4; ++i)
    owner.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
  return owner;
}
constexpr UnixMillis begin_unix = 1'000'000'000'000;

TEST(EvidenceRows, OwnersWithNothingToLoseHaveFewADayTogether) {
  EvidenceRows rows;
  std::size_t taken = 0;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    taken += rows.take(owner_numbered(i), false, begin_unix + i);
  EXPECT_EQ(taken, EvidenceRows::of_others_max);
  EXPECT_FALSE(rows.take(owner_numbered(1), false, begin_unix + EvidenceRows::day - 1));
  EXPECT_TRUE(rows.take(owner_numbered(1), false, begin_unix + EvidenceRows::day));
  // The store has room for half a year of days on which owners without a stake take all their rows.
  EXPECT_GT(store::evidence_max / EvidenceRows::of_others_max, 180);
}

TEST(EvidenceRows, AnOwnerWithAStakeFindsOneWhateverOthersDo) {
  EvidenceRows rows;
  for (std::uint32_t i = 0; i < 10'000; ++i) (void)rows.take(owner_numbered(i), false, begin_unix);
  for (std::uint32_t i = 10'000; i < 20'000; ++i)
    EXPECT_TRUE(rows.take(owner_numbered(i), true, begin_unix)) << i;
}

TEST(EvidenceRows, AnOwnerWithManyDevicesHasAsManyAsOneWithTwo) {
  EvidenceRows rows;
  std::uint32_t taken = 0;
  for (int i = 0; i < 1'000; ++i)
    taken += rows.take(owner_numbered(1), true, begin_unix + i) ? 1 : 0;
  EXPECT_EQ(taken, EvidenceRows::of_owner_max);
  EXPECT_TRUE(rows.take(owner_numbered(2), true, begin_unix));
}

}  // namespace
}  // namespace weft::jobs
