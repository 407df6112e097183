// A raised sum is found at every node, and other differences are not reported as one.
#include "common/solana/wrong_sum.h"

#include <gtest/gtest.h>

namespace weft::solana {
namespace {

SumTree tree_of(std::size_t count) {
  std::vector<Earned> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i].owner.bytes[0] = static_cast<std::uint8_t>(i);
    rows[i].index = static_cast<std::uint32_t>(i);
    rows[i].amount = 10 + i;
  }
  return SumTree::as_given(std::move(rows));
}

// The root of a tree in which one node's sum is raised.
SumNode raised(const SumTree& tree, unsigned level, std::uint32_t position, std::uint64_t by) {
  crypto::RepeatedSha256 sha256;
  SumNode node = tree.node(level, position);
  node.sum += by;
  for (; level < tree.depth(); ++level, position >>= 1U) {
    const SumNode sibling = tree.node(level, position ^ 1U);
    node = (position & 1U) != 0 ? node_of(sha256, sibling, node) : node_of(sha256, node, sibling);
  }
  return node;
}

TEST(WrongSum, IsFoundAtEveryNodeAboveTheLeaves) {
  for (const std::size_t count : {2, 3, 5, 8, 13}) {
    const SumTree tree = tree_of(count);
    for (unsigned level = 1; level <= tree.depth(); ++level) {
      for (std::uint32_t position = 0; position >> (tree.depth() - level) == 0; ++position) {
        const auto found = find_wrong_sum(tree, raised(tree, level, position, 1'000));
        ASSERT_TRUE(found.has_value()) << count << " owners, level " << level;
        EXPECT_EQ(found->level, level);
        EXPECT_EQ(found->position, position);
        EXPECT_NE(found->left.sum + found->right.sum, found->sum);
        EXPECT_EQ(found->siblings.size(), tree.depth() - level);
      }
    }
  }
}

TEST(WrongSum, ALoweredSumIsFoundToo) {
  const SumTree tree = tree_of(5);
  EXPECT_TRUE(find_wrong_sum(tree, raised(tree, 2, 1, ~0ULL)).has_value());
}

TEST(WrongSum, ARightTreeAndAnotherRootHaveNone) {
  const SumTree tree = tree_of(5);
  EXPECT_FALSE(find_wrong_sum(tree, tree.root()).has_value());
  EXPECT_FALSE(find_wrong_sum(tree, raised(tree, 0, 2, 1'000)).has_value())
      << "a leaf has no children: its amount is another row";
  EXPECT_FALSE(find_wrong_sum(tree, tree_of(6).root()).has_value());
}

}  // namespace
}  // namespace weft::solana
