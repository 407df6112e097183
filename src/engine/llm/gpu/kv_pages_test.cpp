// Pages of the cache: no page is lost, and no sequence writes a page that another one reads.
#include "engine/llm/gpu/kv_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace weft::llm {
namespace {

TEST(KvPages, RefusesWhatIsNotThereAndChangesNothing) {
  KvPages pages({.pages = 4, .positions = 8, .sequences = 2, .pages_each = 3});

  EXPECT_TRUE(pages.grow(0, 17));
  EXPECT_EQ(pages.room(0), 24u);
  EXPECT_FALSE(pages.grow(1, 9)) << "two pages where one is free";
  EXPECT_EQ(pages.room(1), 0u);
  EXPECT_EQ(pages.free_pages(), 1u);
  EXPECT_FALSE(pages.grow(0, 25)) << "more than a sequence may have";
  pages.shrink(0, 8);
  EXPECT_TRUE(pages.grow(1, 24));
  EXPECT_EQ(pages.free_pages(), 0u);
}

TEST(KvPages, GoesBackBeforeAPageThatAnotherOneReads) {
  KvPages pages({.pages = 8, .positions = 8, .sequences = 3, .pages_each = 4});
  ASSERT_TRUE(pages.grow(0, 30));

  EXPECT_EQ(pages.share(0, 1, 23), 16u) << "whole pages alone";
  EXPECT_EQ(pages.rewind(0, 29), 29u);
  EXPECT_EQ(pages.rewind(0, 16), 16u) << "what is written is its own";
  EXPECT_EQ(pages.rewind(0, 15), 8u);
  EXPECT_EQ(pages.room(0), 8u);
  EXPECT_EQ(pages.room(1), 16u);
  EXPECT_EQ(pages.rewind(1, 15), 15u) << "the other one has let go of it";
}

// Compares random histories with a simple record of the content of every page: a sequence only
// writes pages that no other sequence holds.
TEST(KvPages, KeepAccountThroughRandomHistories) {
  constexpr std::uint32_t positions = 4, each = 6, sequences = 5, all = 16;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 generator(seed);
    const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
    KvPages pages(
        {.pages = all, .positions = positions, .sequences = sequences, .pages_each = each});
    std::vector<std::uint32_t> length(sequences);
    // The content of each position; the key is the page and the offset in the page.
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> content;
    std::vector<std::vector<int>> expected(sequences);
    int next = 0;
    for (int step = 0; step < 200; ++step) {
      const std::uint32_t who = random() % sequences, other = random() % sequences;
      switch (random() % 4) {
        case 0: {  // The sequence writes further positions.
          const std::uint32_t to = std::min(each * positions, length[who] + random() % 6);
          if (!pages.grow(who, to)) break;
          for (; length[who] < to; ++length[who]) {
            const std::uint32_t page = pages.of(who)[length[who] / positions];
            content[{page, length[who] % positions}] = next;
            expected[who].push_back(next++);
          }
          break;
        }
        case 1: {
          const std::uint32_t wanted = random() % (length[who] + 1),
                              kept = pages.rewind(who, wanted);
          ASSERT_LE(kept, wanted) << "seed " << seed;
          ASSERT_LT(wanted - kept, positions) << "seed " << seed;
          length[who] = kept;
          expected[who].resize(kept);
          if (random() % 2 == 0) pages.shrink(who, kept);
          break;
        }
        case 2: {
          if (who == other) break;
          pages.shrink(other, 0);
          length[other] = pages.share(who, other, length[who]);
          expected[other].assign(expected[who].begin(), expected[who].begin() + length[other]);
          break;
        }
        default:
          pages.shrink(who, 0);
          length[who] = 0;
          expected[who].clear();
      }
      std::map<std::uint32_t, int> used;
      for (std::uint32_t s = 0; s < sequences; ++s) {
        for (const std::uint32_t page : pages.of(s)) ++used[page];
        for (std::uint32_t p = 0; p < length[s]; ++p)
          ASSERT_EQ((content[{pages.of(s)[p / positions], p % positions}]), expected[s][p])
              << "seed " << seed << ", step " << step << ", sequence " << s;
      }
      ASSERT_EQ(used.size() + pages.free_pages(), all) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace weft::llm
