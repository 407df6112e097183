// The tree of an epoch: everything that every owner has earned since the start, under a root that
// also has the sum of all amounts. The on-chain program checks paths of it (chain/program/tree.h).
//
// leaf = SHA-256(0x00 || owner || u32 index || u64 amount || u64 units), with the amount as its
// sum. A place without an owner has the hash 0 and the sum 0. node = SHA-256(0x01 || left hash ||
// u64 left sum || right hash || u64 right sum), with the sum of both as its sum. Leaves are sorted
// by owner. An owner's index is fixed for all epochs and names its place in the pages of claimed
// amounts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/crypto/repeated_sha256.h"

namespace weft::solana {

inline constexpr unsigned tree_depth_max = 21;
inline constexpr std::size_t tree_owners_max = std::size_t{1} << tree_depth_max;

struct Earned {
  PublicKey owner;
  std::uint32_t index = 0;
  std::uint64_t amount = 0;  // Micro-credits earned since the start.
  std::uint64_t units = 0;   // Millionths of compute units since the start.
  // The part of the amount that is new tokens: the owner's part of the emission. It is published in
  // the rows but is not in the leaf, because it follows from the rows of earlier epochs.
  std::uint64_t emission = 0;
};
struct SumNode {
  Hash hash;
  std::uint64_t sum = 0;
  friend bool operator==(const SumNode&, const SumNode&) = default;
};
struct SumPath {
  // The leaf's position. Its bits, from the lowest on, give the side of the path's node at each
  // level.
  std::uint32_t position = 0;
  std::vector<SumNode> siblings;
};

[[nodiscard]] SumNode leaf_of(const Earned& earned);
// The parent of two nodes. Its sum wraps in 64 bits.
[[nodiscard]] SumNode node_of(crypto::RepeatedSha256& sha256, const SumNode& left,
                              const SumNode& right);
// The root to which a leaf leads. Fails with data_loss if a sum overflows or the position is
// outside of the tree.
[[nodiscard]] Result<SumNode> root_of_path(const Earned& leaf, const SumPath& path);

// A tree over all owners and what they earned. Threading: one thread at a time.
class SumTree {
 public:
  // Makes a tree from owners in any order. Fails with invalid_argument if an owner or an index
  // occurs twice, an index is too large, or the sum of all amounts overflows, and with
  // resource_exhausted if there are too many owners.
  [[nodiscard]] static Result<SumTree> create(std::vector<Earned> owners);

  // Makes a tree from owners in the given order, even a wrong one: the tree of a dishonest
  // operator, for evidence against it. position() is not reliable in such a tree.
  [[nodiscard]] static SumTree as_given(std::vector<Earned> owners);

  // Sets new amounts and units of owners that are in the tree. A failure changes nothing: not_found
  // if an owner is not in the tree, invalid_argument if an amount or the units fall or the sum
  // overflows.
  [[nodiscard]] Result<> update(std::span<const Earned> changed);

  [[nodiscard]] const SumNode& root() const { return levels_.back().front(); }
  [[nodiscard]] std::uint64_t units() const { return units_; }
  [[nodiscard]] unsigned depth() const { return static_cast<unsigned>(levels_.size() - 1); }
  [[nodiscard]] std::span<const Earned> owners() const { return owners_; }
  // The position of an owner in owners() and in the tree. Fails with not_found for an unknown
  // owner.
  [[nodiscard]] Result<std::uint32_t> position(const PublicKey& owner) const;
  // A node of a level (0: the leaves). Empty places after the last owner have nodes, too.
  [[nodiscard]] SumNode node(std::size_t level, std::size_t position) const;
  // The path of a position below 2^depth, with or without an owner.
  [[nodiscard]] SumPath path(std::uint32_t position) const;

 private:
  explicit SumTree(std::vector<Earned> owners) : owners_(std::move(owners)) {}
  void build();

  std::vector<Earned> owners_;  // All rows, sorted by owner.
  std::vector<std::vector<SumNode>>
      levels_;                  // Leaves first, without the empty places after the last owner.
  std::vector<SumNode> empty_;  // The node of an empty subtree, by level.
  std::uint64_t units_ = 0;
};

}  // namespace weft::solana
