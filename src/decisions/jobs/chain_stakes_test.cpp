// Tests that stakes on the chain count once each, as the newest final state gives them, and only
// for a limited time if no newer state is read.
#include "decisions/jobs/chain_stakes.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

using namespace std::chrono_literals;

OwnerId chain_owner(std::uint8_t number) {
  OwnerId out;
  out.bytes[0] = number;
  return out;
}
constexpr Instant read_at{1h};

TEST(ChainStakes, AReadingReplacesTheOneBefore) {
  ChainStakes stakes;
  ASSERT_TRUE(
      stakes.seen(10, std::vector<ChainStake>{{chain_owner(1), 50}, {chain_owner(2), 7}}, read_at));
  EXPECT_EQ(stakes.of(chain_owner(1), read_at), 50);
  EXPECT_EQ(stakes.of(chain_owner(2), read_at), 7);
  EXPECT_EQ(stakes.of(chain_owner(3), read_at), 0);

  // One owner unbonds a part of its stake; the other owner was slashed and is no longer in the
  // reading.
  ASSERT_TRUE(stakes.seen(11, std::vector<ChainStake>{{chain_owner(1), 20}}, read_at + 1s));

  EXPECT_EQ(stakes.of(chain_owner(1), read_at + 1s), 20);
  EXPECT_EQ(stakes.of(chain_owner(2), read_at + 1s), 0);
}

TEST(ChainStakes, AnEarlierSlotBringsNothingBack) {
  ChainStakes stakes;
  ASSERT_TRUE(stakes.seen(10, std::vector<ChainStake>{{chain_owner(1), 50}}, read_at));
  ASSERT_TRUE(stakes.seen(12, {}, read_at + 1s));

  const auto late = stakes.seen(11, std::vector<ChainStake>{{chain_owner(1), 50}}, read_at + 2s);

  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::already_exists);
  EXPECT_EQ(stakes.of(chain_owner(1), read_at + 2s), 0);
}

TEST(ChainStakes, CountNothingWhereTheChainIsNotReadAnyMore) {
  ChainStakes stakes;
  ASSERT_TRUE(stakes.seen(10, std::vector<ChainStake>{{chain_owner(1), 50}}, read_at));
  EXPECT_EQ(stakes.of(chain_owner(1), read_at + ChainStakes::counts_for), 50);
  EXPECT_EQ(stakes.of(chain_owner(1), read_at + ChainStakes::counts_for + 1s), 0);

  // A node that stands still reports one slot again and again.
  ASSERT_TRUE(stakes.seen(10, std::vector<ChainStake>{{chain_owner(1), 50}},
                          read_at + ChainStakes::counts_for));
  EXPECT_EQ(stakes.of(chain_owner(1), read_at + ChainStakes::counts_for + 1s), 0);

  ASSERT_TRUE(stakes.seen(11, std::vector<ChainStake>{{chain_owner(1), 50}}, read_at + 1h));
  EXPECT_EQ(stakes.of(chain_owner(1), read_at + 1h), 50);
}

TEST(ChainStakes, ASlotOfTheFarFutureShutsOutTheNodesThatFollowForAWhileOnly) {
  ChainStakes stakes;
  ASSERT_TRUE(stakes.seen(std::uint64_t{1} << 62, {}, read_at));
  const std::vector<ChainStake> honest{{chain_owner(1), 50}};
  ASSERT_FALSE(stakes.seen(10, honest, read_at + 1min));
  ASSERT_FALSE(stakes.seen(11, honest, read_at + ChainStakes::counts_for)) << "it still counts";

  ASSERT_TRUE(stakes.seen(12, honest, read_at + ChainStakes::counts_for + 1s));

  EXPECT_EQ(stakes.slot(), 12U);
  EXPECT_EQ(stakes.of(chain_owner(1), read_at + ChainStakes::counts_for + 1s), 50);
  ASSERT_TRUE(stakes.seen(13, {}, read_at + ChainStakes::counts_for + 2s));
}

TEST(ChainStakes, ANodeThatStandsStillAtAnEarlierSlotIsNeverTaken) {
  ChainStakes stakes;
  ASSERT_TRUE(stakes.seen(12, {}, read_at));  // The whole stake is unbonded.
  for (int minute = 1; minute < 60; ++minute) {
    const Instant at = read_at + std::chrono::minutes(minute);
    EXPECT_FALSE(stakes.seen(11, std::vector<ChainStake>{{chain_owner(1), 50}}, at));
    EXPECT_EQ(stakes.of(chain_owner(1), at), 0);
  }
}

TEST(ChainStakes, OneOwnerMayHaveStakedAllThatThereIs) {
  ChainStakes stakes;
  constexpr MicroCredits most = MicroCredits{1} << 60;

  ASSERT_TRUE(stakes.seen(10, std::vector<ChainStake>{{chain_owner(1), most}, {chain_owner(2), 0}},
                          read_at));

  EXPECT_EQ(stakes.of(chain_owner(1), read_at), most);
}

TEST(ChainStakes, AReadingThatCannotBeRightChangesNothing) {
  ChainStakes stakes;
  ASSERT_TRUE(stakes.seen(10, std::vector<ChainStake>{{chain_owner(1), 50}}, read_at));
  const auto refused = [&](const std::vector<ChainStake>& rows) {
    const auto taken = stakes.seen(11, rows, read_at);
    return !taken && taken.error().code == ErrorCode::invalid_argument &&
           stakes.of(chain_owner(1), read_at) == 50 && stakes.slot() == 10;
  };

  EXPECT_TRUE(refused({{chain_owner(1), 50}, {chain_owner(2), 1}, {chain_owner(1), 50}}))
      << "twice";
  EXPECT_TRUE(refused({{chain_owner(1), -1}}));
  EXPECT_TRUE(refused({{chain_owner(1), INT64_MAX}}));
  constexpr MicroCredits most = MicroCredits{1} << 60;
  EXPECT_TRUE(refused({{chain_owner(1), most}, {chain_owner(2), 1}})) << "more than there is";
  std::vector<ChainStake> many(ChainStakes::rows_max + 1);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].owner.bytes[0] = static_cast<std::uint8_t>(i);
    many[i].owner.bytes[1] = static_cast<std::uint8_t>(i >> 8);
  }
  EXPECT_TRUE(refused(many));
}

}  // namespace
}  // namespace weft::jobs
