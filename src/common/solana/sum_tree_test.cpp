// The tree of an epoch. An owner's pay follows from its root, so a wrong path, sum or order loses
// money.
#include "common/solana/sum_tree.h"

#include <gtest/gtest.h>

#include <random>

#include "common/solana/two_threads.h"

namespace weft::solana {
namespace {

std::vector<Earned> crowd(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<Earned> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& byte : out[i].owner.bytes) byte = static_cast<std::uint8_t>(random());
    out[i].index = static_cast<std::uint32_t>(i);
    out[i].amount = random() >> 40;
    out[i].units = random() >> 40;
  }
  return out;
}

TEST(SumTree, EveryPathLeadsToTheRoot) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 8, 9, 100}) {
    const auto tree = SumTree::create(crowd(count)).value();
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto root = root_of_path(tree.owners()[i], tree.path(i));
      ASSERT_TRUE(root.has_value());
      EXPECT_EQ(*root, tree.root()) << count << " owners, position " << i;
    }
  }
}

TEST(SumTree, AnotherAmountLeadsElsewhere) {
  const auto tree = SumTree::create(crowd(10)).value();
  Earned more = tree.owners()[3];
  more.amount += 1;

  EXPECT_NE(root_of_path(more, tree.path(3)).value(), tree.root());
  EXPECT_NE(root_of_path(tree.owners()[3], tree.path(4)).value(), tree.root());
}

TEST(SumTree, TheRootHasTheSumOfAllAmounts) {
  const auto owners = crowd(77);
  std::uint64_t sum = 0;
  for (const Earned& one : owners) sum += one.amount;

  EXPECT_EQ(SumTree::create(owners)->root().sum, sum);
}

TEST(SumTree, TheOrderOfRowsMakesNoDifference) {
  auto owners = crowd(50);
  const SumNode root = SumTree::create(owners)->root();
  std::ranges::reverse(owners);

  EXPECT_EQ(SumTree::create(owners)->root(), root);
}

// Computes the root as its definition says, one node after the other.
SumNode folded(std::vector<Earned> owners) {
  std::ranges::sort(owners, {}, &Earned::owner);
  std::vector<SumNode> level;
  for (const Earned& one : owners) level.push_back(leaf_of(one));
  crypto::RepeatedSha256 sha256;
  for (SumNode empty; level.size() > 1; empty = node_of(sha256, empty, empty)) {
    if (level.size() % 2 != 0) level.push_back(empty);
    for (std::size_t i = 0; i < level.size(); i += 2)
      level[i / 2] = node_of(sha256, level[i], level[i + 1]);
    level.resize(level.size() / 2);
  }
  return level.front();
}

TEST(SumTree, TwoThreadsMakeTheRootThatOneMakes) {
  for (const std::size_t count :
       {places_for_two_threads - 1, places_for_two_threads, places_for_two_threads + 1,
        2 * places_for_two_threads + 1, std::size_t{20'001}}) {
    auto owners = crowd(count);
    const SumNode root = folded(owners);
    std::ranges::sort(owners, std::ranges::greater(), &Earned::owner);

    const auto tree = SumTree::create(owners).value();

    EXPECT_EQ(tree.root(), root) << count;
    EXPECT_TRUE(std::ranges::is_sorted(tree.owners(), {}, &Earned::owner)) << count;
    owners.back() = owners.front();  // The first owner occurs in both halves.
    owners.back().index = static_cast<std::uint32_t>(count);
    EXPECT_FALSE(SumTree::create(owners).has_value()) << count;
  }
}

TEST(SumTree, AnUpdateIsTheSameAsBuildingAnew) {
  for (const std::size_t count : {1, 5, 64, 333}) {
    auto owners = crowd(count);
    auto tree = SumTree::create(owners).value();
    std::vector<Earned> changed;
    for (std::size_t i = 0; i < count; i += 3) {
      owners[i].amount += 1000 + i;
      owners[i].units += i;
      changed.push_back(owners[i]);
    }

    ASSERT_TRUE(tree.update(changed).has_value());

    const auto whole = SumTree::create(owners).value();
    EXPECT_EQ(tree.root(), whole.root()) << count;
    EXPECT_EQ(tree.units(), whole.units()) << count;
    EXPECT_EQ(root_of_path(tree.owners()[0], tree.path(0)).value(), tree.root());
  }
}

TEST(SumTree, DoubledOwnersIndicesAndSumsThatOverflowAreRefused) {
  auto twice = crowd(3);
  twice[1].owner = twice[0].owner;
  EXPECT_FALSE(SumTree::create(twice).has_value());
  auto index = crowd(3);
  index[1].index = index[0].index;
  EXPECT_FALSE(SumTree::create(index).has_value());
  auto far = crowd(3);
  far[0].index = far[1].index = 1000;
  EXPECT_FALSE(SumTree::create(far).has_value());
  far[0].index = 1U << tree_depth_max;
  EXPECT_FALSE(SumTree::create(far).has_value());
  auto sum = crowd(3);
  sum[1].amount = ~std::uint64_t{0};
  sum[2].amount = 1;
  EXPECT_FALSE(SumTree::create(sum).has_value());
}

TEST(SumTree, AnUpdateThatTakesAwayChangesNothing) {
  auto tree = SumTree::create(crowd(9)).value();
  const SumNode root = tree.root();
  std::vector<Earned> changed = {tree.owners()[0], tree.owners()[1]};
  changed[0].amount += 5;
  changed[1].amount -= 1;

  EXPECT_FALSE(tree.update(changed).has_value());

  EXPECT_EQ(tree.root(), root);
  EXPECT_EQ(root_of_path(tree.owners()[0], tree.path(0)).value(), root);
}

}  // namespace
}  // namespace weft::solana
