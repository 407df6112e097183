// A bucket gives its burst at once and its rate in the long run, and no more.
#include "common/base/token_bucket.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "common/base/match.h"

namespace weft {
namespace {

using namespace std::chrono_literals;
constexpr TokenBucket::Rate rate{.per_second = 2, .burst = 3};
const Instant start{1h};

TEST(TokenBucket, GivesTheBurstAndThenTheRate) {
  TokenBucket bucket;
  bucket.refill(rate, start);
  EXPECT_TRUE(bucket.full(rate));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.take(1)) << i;
  EXPECT_FALSE(bucket.take(1));
  bucket.refill(rate, start + 499ms);
  EXPECT_FALSE(bucket.take(1));
  bucket.refill(rate, start + 500ms);
  EXPECT_TRUE(bucket.take(1));
  bucket.refill(rate, start + 1h);
  EXPECT_EQ(bucket.level(), 3) << "no more than the burst is saved";
}

TEST(TokenBucket, ARefusedTakeCostsNothing) {
  TokenBucket bucket;
  bucket.refill(rate, start);
  EXPECT_FALSE(bucket.take(3.5));
  EXPECT_EQ(bucket.level(), 3);
}

TEST(TokenBucket, ADebtIsPaidBeforeMoreIsTaken) {
  TokenBucket bucket;
  bucket.refill(rate, start);
  bucket.spend(rate, 5);
  EXPECT_EQ(bucket.level(), -2);
  bucket.refill(rate, start + 1s);
  EXPECT_FALSE(bucket.take(1));
  bucket.spend(rate, -100);
  EXPECT_EQ(bucket.level(), 3) << "what comes back does not pass the burst";
}

TEST(TokenBucket, AClockThatRunsBackwardsMakesNoTokens) {
  TokenBucket bucket;
  bucket.refill(rate, start);
  EXPECT_TRUE(bucket.take(3));
  bucket.refill(rate, start - 10s);
  EXPECT_EQ(bucket.level(), 0);
  bucket.refill(rate, start);
  EXPECT_EQ(bucket.level(), 0) << "the ten seconds are not counted again";
}

TEST(Match, CallsTheCaseOfTheAlternativeThatIsThere) {
  const auto text = [](const std::variant<int, std::string>& value) {
    return std::visit(Match{[](int number) { return "number " + std::to_string(number); },
                            [](const std::string& word) { return "word " + word; }},
                      value);
  };
  EXPECT_EQ(text(3), "number 3");
  EXPECT_EQ(text("x"), "word x");
}

}  // namespace
}  // namespace weft
