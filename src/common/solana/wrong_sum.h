// Where in a tree of sums (sum_tree.h) a node's sum is not that of its children: evidence against a
// root whose rows were published.
#pragma once

#include <optional>
#include <vector>

#include "common/solana/sum_tree.h"

namespace weft::solana {

struct WrongSum {
  unsigned level = 0;  // Leaves are level 0.
  std::uint32_t position = 0;
  std::uint64_t sum = 0;  // As the root has it.
  SumNode left, right;
  std::vector<SumNode> siblings;  // From the node up.
};
// The node whose sum alone is to be another one so that the rows make `root` in the place of the
// tree's own; nullopt if no single node does. It hashes all nodes below as often as there are
// levels above them: seconds for a million owners.
[[nodiscard]] std::optional<WrongSum> find_wrong_sum(const SumTree& tree, const SumNode& root);

}  // namespace weft::solana
