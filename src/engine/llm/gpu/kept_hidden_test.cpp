// Hidden states for audits: KeptHidden hands out those that were asked for, each once, and none of
// positions that were taken back.
#include "engine/llm/gpu/kept_hidden.h"

#include <gtest/gtest.h>

namespace weft::llm {
namespace {

using States = std::optional<std::vector<float>>;

TEST(KeptHidden, WantsTheFirstLengthAndEveryNthBehindIt) {
  KeptHidden kept;
  EXPECT_FALSE(kept.wants(0)) << "none before begin()";

  kept.begin(5, 3);

  EXPECT_FALSE(kept.wants(2));
  EXPECT_TRUE(kept.wants(5));
  EXPECT_FALSE(kept.wants(6));
  EXPECT_TRUE(kept.wants(11));
  kept.begin(5, 0);
  EXPECT_FALSE(kept.wants(5));
}

TEST(KeptHidden, GivesEachStateOnce) {
  KeptHidden kept;
  kept.begin(0, 1);
  kept.add(2, {1, 2});

  EXPECT_EQ(kept.take(1), std::nullopt);
  EXPECT_EQ(kept.take(2), States({1, 2}));
  EXPECT_EQ(kept.take(2), std::nullopt);
}

TEST(KeptHidden, ForgetsWhatLiesBehindALength) {
  KeptHidden kept;
  kept.begin(0, 1);
  kept.add(2, {1});
  kept.add(3, {2});

  kept.forget_behind(2);

  EXPECT_EQ(kept.take(3), std::nullopt);
  EXPECT_EQ(kept.take(2), States({1}));
  kept.add(4, {3});
  kept.begin(0, 1);
  EXPECT_EQ(kept.take(4), std::nullopt) << "begin() forgets all";
}

}  // namespace
}  // namespace weft::llm
