#include "decisions/inference/conversations.h"

#include <gtest/gtest.h>

namespace weft::inference {
namespace {

TEST(Conversations, KnowTheChainThatAnsweredLast) {
  Conversations conversations;
  EXPECT_FALSE(conversations.chain_of(7));

  conversations.answered_by(7, ChainId(1));
  conversations.answered_by(7, ChainId(2));

  EXPECT_EQ(conversations.chain_of(7), ChainId(2));
}

TEST(Conversations, ForgetTheOldestBeyondTheirBound) {
  Conversations conversations;
  for (std::uint64_t id = 0; id <= Conversations::conversations_max; ++id)
    conversations.answered_by(id, ChainId(1));

  EXPECT_FALSE(conversations.chain_of(0));
  EXPECT_TRUE(conversations.chain_of(1));
  EXPECT_TRUE(conversations.chain_of(Conversations::conversations_max));
}

}  // namespace
}  // namespace weft::inference
