// Finds the node of a tree of sums (sum_tree.h) whose sum is not that of its children: evidence
// against a root whose rows were published.
#pragma once

#include <optional>
#include <vector>

#include "common/solana/sum_tree.h"

namespace weft::solana {

struct WrongSum {
  unsigned level = 0;  // The level of the node; leaves are level 0.
  std::uint32_t position = 0;
  std::uint64_t sum = 0;  // The sum in the tree of the wrong root.
  SumNode left, right;
  std::vector<SumNode> siblings;  // The siblings on the path from the node to the root.
};
// The single node whose changed sum makes the rows give `root` instead of the tree's own root;
// nullopt if no single node does. For each node it hashes the path to the root: seconds for a
// million owners.
[[nodiscard]] std::optional<WrongSum> find_wrong_sum(const SumTree& tree, const SumNode& root);

}  // namespace weft::solana
