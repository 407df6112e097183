// Amounts of money are converted between text and micro-credits exactly, or refused.
#include <gtest/gtest.h>

#include "apps/cli/settlement/options.h"

namespace weft::cli {
namespace {

TEST(ChainAmounts, credits_are_read_exactly) {
  EXPECT_EQ(parse_credits("12"), 12'000'000U);
  EXPECT_EQ(parse_credits("0.5"), 500'000U);
  EXPECT_EQ(parse_credits("0.000001"), 1U);
  EXPECT_EQ(parse_credits("999999999999.999999"), 999'999'999'999'999'999U);
  EXPECT_EQ(credits_text(1'000'001), "1.000001 credits");
  EXPECT_EQ(sol_text(5'000), "0.000005000 SOL");
}

TEST(ChainAmounts, what_is_no_amount_is_refused) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "0.0000001", "1,5", " 1", "1 ",
                           "1000000000001", "99999999999999999999", "0x10", "nan"})
    EXPECT_FALSE(parse_credits(text)) << text;
}

}  // namespace
}  // namespace weft::cli
