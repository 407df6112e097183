// The tree of an epoch: what every owner has earned since the start, under a root that also has the
// sum of all amounts. The on-chain program checks paths of it (chain/program/tree.h).
//
// leaf = SHA-256(0x00 || owner || u32 index || u64 amount || u64 units), its sum is the amount; a
// place without an owner has the hash 0 and the sum 0. node = SHA-256(0x01 || left hash || u64 left
// sum || right hash || u64 right sum), its sum that of both. Leaves are sorted by owner; an owner's
// index is fixed for all epochs and names its place in the pages of claimed amounts.
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
  std::uint64_t amount = 0;  // Micro-credits since the start.
  std::uint64_t units = 0;   // Millionths of compute units since the start.
  // What of the amount is new tokens: the owner's part in the emission. Published in the rows and
  // not in the leaf: it follows from the rows of the epochs before.
  std::uint64_t emission = 0;
};
struct SumNode {
  Hash hash;
  std::uint64_t sum = 0;
  friend bool operator==(const SumNode&, const SumNode&) = default;
};
struct SumPath {
  std::uint32_t position =
      0;  // The leaf's position; its bits from the lowest say on which side the path's node is.
  std::vector<SumNode> siblings;
};

[[nodiscard]] SumNode leaf_of(const Earned& earned);
// The node over two others; its sum wraps.
[[nodiscard]] SumNode node_of(crypto::RepeatedSha256& sha256, const SumNode& left,
                              const SumNode& right);
// The root that a leaf leads to; data_loss if a sum overflows or the position is outside the
// tree.
[[nodiscard]] Result<SumNode> root_of_path(const Earned& leaf, const SumPath& path);

// Threading: one thread at a time.
class SumTree {
 public:
  // In any order. invalid_argument if an owner or an index comes twice, an index is too large,
  // there are too many owners, or the sum of all amounts overflows.
  [[nodiscard]] static Result<SumTree> create(std::vector<Earned> owners);

  // In the order that they have, right or wrong: the tree of a dishonest operator, for evidence
  // against it. position() finds nothing dependable in it.
  [[nodiscard]] static SumTree as_given(std::vector<Earned> owners);

  // New amounts and units of owners that are in the tree. not_found, and no change, where one is
  // not; invalid_argument if an amount or the units fall or the sum overflows.
  [[nodiscard]] Result<> update(std::span<const Earned> changed);

  [[nodiscard]] const SumNode& root() const { return levels_.back().front(); }
  [[nodiscard]] std::uint64_t units() const { return units_; }
  [[nodiscard]] unsigned depth() const { return static_cast<unsigned>(levels_.size() - 1); }
  [[nodiscard]] std::span<const Earned> owners() const { return owners_; }
  // The place of an owner in owners() and in the tree; not_found.
  [[nodiscard]] Result<std::uint32_t> position(const PublicKey& owner) const;
  // A node of a level (0: the leaves); empty places behind the last owner have one too.
  [[nodiscard]] SumNode node(std::size_t level, std::size_t position) const;
  // The path of a position below 2^depth, filled or not.
  [[nodiscard]] SumPath path(std::uint32_t position) const;

 private:
  explicit SumTree(std::vector<Earned> owners) : owners_(std::move(owners)) {}
  void build();

  std::vector<Earned> owners_;  // Sorted by owner.
  std::vector<std::vector<SumNode>>
      levels_;                  // Leaves first; without the empty places behind the last owner.
  std::vector<SumNode> empty_;  // An empty subtree, by level.
  std::uint64_t units_ = 0;
};

}  // namespace weft::solana
