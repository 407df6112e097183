#include "common/solana/wrong_sum.h"

namespace weft::solana {

std::optional<WrongSum> find_wrong_sum(const SumTree& tree, const SumNode& root) {
  // The difference of the one wrong sum is the difference of the root's sum, because sums wrap in
  // 64 bits.
  const std::uint64_t off = root.sum - tree.root().sum;
  if (off == 0) return std::nullopt;
  crypto::RepeatedSha256 sha256;
  for (unsigned level = 1; level <= tree.depth(); ++level) {
    for (std::uint32_t position = 0; position >> (tree.depth() - level) == 0; ++position) {
      SumNode node = tree.node(level, position);
      node.sum += off;
      WrongSum found{.level = level,
                     .position = position,
                     .sum = node.sum,
                     .left = tree.node(level - 1, std::size_t{2} * position),
                     .right = tree.node(level - 1, std::size_t{2} * position + 1),
                     .siblings = {}};
      for (unsigned at = level; at < tree.depth(); ++at) {
        const std::uint32_t place = position >> (at - level);
        const SumNode sibling = tree.node(at, place ^ 1U);
        node = (place & 1U) != 0 ? node_of(sha256, sibling, node) : node_of(sha256, node, sibling);
        found.siblings.push_back(sibling);
      }
      if (node == root) return found;
    }
  }
  return std::nullopt;
}

}  // namespace weft::solana
