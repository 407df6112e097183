// The keys of a message are in the order of @solana/kit; chain/tests/client.test.mjs compares whole
// messages.
#include "common/solana/key_order.h"

#include <gtest/gtest.h>

namespace weft::solana {
namespace {

TEST(SolanaKeyOrder, CaseCountsOnlyAmongEquals) {
  EXPECT_TRUE(text_before("9z", "a"));
  EXPECT_TRUE(text_before("aB", "Ac"));
  EXPECT_TRUE(text_before("ab", "Ab"));
  EXPECT_FALSE(text_before("Ab", "ab"));
  EXPECT_TRUE(text_before("Ab", "abc"));
  EXPECT_FALSE(text_before("ab", "ab"));
}

}  // namespace
}  // namespace weft::solana
