// A price that was shown stays valid for a minute.
#include "decisions/billing/model_prices.h"

#include <gtest/gtest.h>

namespace weft::billing {
namespace {

using namespace std::chrono_literals;

constexpr Instant epoch = Instant(1h);

TEST(ModelPrices, ANewModelCostsWhatItsCardSays) {
  ModelPrices prices;
  EXPECT_EQ(prices.price("m", epoch), 0);
  prices.set("m", 7, epoch);
  EXPECT_EQ(prices.price("m", epoch), 7);
  EXPECT_EQ(prices.next("m", epoch), std::nullopt);
}

TEST(ModelPrices, ARaisedPriceIsChargedAfterAMinute) {
  ModelPrices prices;
  prices.set("m", 7, epoch);
  prices.set("m", 9, epoch + 1h);
  EXPECT_EQ(prices.price("m", epoch + 1h + 59s), 7);
  EXPECT_EQ(prices.next("m", epoch + 1h + 59s), 9);
  EXPECT_EQ(prices.price("m", epoch + 1h + 60s), 9);
  EXPECT_EQ(prices.next("m", epoch + 1h + 60s), std::nullopt);
  // A hold of zero lets the owner of a model charge a price that no request has seen.
  ModelPrices off(0s);
  off.set("m", 7, epoch);
  off.set("m", 1'000'000'000, epoch + 1h);
  EXPECT_EQ(off.price("m", epoch + 1h), 1'000'000'000);
}

TEST(ModelPrices, ALoweredPriceIsChargedAtOnceAndEndsAnAnnouncedRise) {
  ModelPrices prices;
  prices.set("m", 7, epoch);
  prices.set("m", 9, epoch + 1s);
  prices.set("m", 5, epoch + 2s);
  EXPECT_EQ(prices.price("m", epoch + 2s), 5);
  EXPECT_EQ(prices.price("m", epoch + 2h), 5);
}

TEST(ModelPrices, EveryRiseCountsItsOwnMinuteAndTheSameAnnouncementDoesNot) {
  ModelPrices prices;
  prices.set("m", 7, epoch);
  prices.set("m", 9, epoch);
  prices.set("m", 9, epoch + 30s);  // Sets a price again, as a repeated command does.
  EXPECT_EQ(prices.price("m", epoch + 60s), 9);
  prices.set("m", 20, epoch + 60s);
  prices.set("m", 30, epoch + 90s);
  EXPECT_EQ(prices.price("m", epoch + 149s), 9);
  EXPECT_EQ(prices.price("m", epoch + 150s), 30);
}

TEST(ModelPrices, AModelThatIsRemovedAndAddedAgainKeepsItsPriceForTheMinute) {
  ModelPrices prices;
  prices.set("m", 7, epoch);
  prices.remove("m", epoch + 10s);
  prices.set("m", 900, epoch + 11s);
  EXPECT_EQ(prices.price("m", epoch + 70s), 7);
  EXPECT_EQ(prices.price("m", epoch + 71s), 900);
  prices.remove("m", epoch + 100s);
  prices.set("m", 5000, epoch + 160s);  // A minute after its removal the model counts as a new one.
  EXPECT_EQ(prices.price("m", epoch + 160s), 5000);
}

}  // namespace
}  // namespace weft::billing
