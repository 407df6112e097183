#include "common/solana/sum_tree.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/check.h"
#include "common/solana/two_threads.h"

namespace weft::solana {
namespace {

template <class Integer>
std::uint8_t* put_le(std::uint8_t* at, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    at[i] = static_cast<std::uint8_t>(value >> (8 * i));
  return at + sizeof(Integer);
}
std::uint8_t* put_bytes(std::uint8_t* at, ByteSpan bytes) {
  std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

SumNode hash_leaf(crypto::RepeatedSha256& sha256, const Earned& earned) {
  std::array<std::uint8_t, 53> bytes{};
  std::uint8_t* at = put_bytes(bytes.data() + 1, earned.owner.bytes);
  at = put_le(at, earned.index);
  at = put_le(at, earned.amount);
  put_le(at, earned.units);
  return {sha256(bytes), earned.amount};
}
// The parent of two nodes. The sum may wrap: callers have checked that the sum of all amounts fits,
// or check the result.
SumNode hash_pair(crypto::RepeatedSha256& sha256, const SumNode& left, const SumNode& right) {
  std::array<std::uint8_t, 81> bytes{1};
  std::uint8_t* at = put_bytes(bytes.data() + 1, left.hash.bytes);
  at = put_le(at, left.sum);
  at = put_bytes(at, right.hash.bytes);
  put_le(at, right.sum);
  return {sha256(bytes), left.sum + right.sum};
}

// The first bytes of an owner's key as a number of the same order, with the index of its row.
// Sorting these moves a quarter of the bytes of whole rows.
struct Place {
  std::uint64_t first = 0;
  std::uint32_t row = 0;
};
std::uint64_t first_bytes(const PublicKey& key) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < sizeof out; ++i) out = out << 8 | key.bytes[i];
  return out;
}

// The rows sorted by owner, with a thread for each half. Published rows are in order already.
std::vector<Earned> sorted_by_owner(std::vector<Earned> owners) {
  if (std::ranges::is_sorted(owners, {}, &Earned::owner)) return owners;
  std::vector<Place> places(owners.size());
  const auto earlier = [&](const Place& a, const Place& b) {
    return a.first != b.first ? a.first < b.first : owners[a.row].owner < owners[b.row].owner;
  };
  const auto at = [&](std::size_t i) { return places.begin() + static_cast<std::ptrdiff_t>(i); };
  in_two_parts(places.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      places[i] = {.first = first_bytes(owners[i].owner), .row = static_cast<std::uint32_t>(i)};
    std::sort(at(begin), at(end), earlier);
  });
  std::inplace_merge(places.begin(), at(places.size() / 2), places.end(), earlier);
  std::vector<Earned> out(owners.size());
  in_two_parts(places.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = owners[places[i].row];
  });
  return out;
}

Result<> check_owners(std::span<const Earned> sorted) {
  if (sorted.size() > tree_owners_max)
    return fail(ErrorCode::resource_exhausted, "A tree has {} owners; at most {} are allowed.",
                sorted.size(), tree_owners_max);
  std::vector<bool> taken(sorted.size());
  std::vector<std::uint32_t> far;  // Indices of at least the number of owners.
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Earned& one = sorted[i];
    if (i > 0 && sorted[i - 1].owner == one.owner)
      return fail(ErrorCode::invalid_argument, "The owner {} is in the tree twice.",
                  one.owner.text());
    if (one.index >= tree_owners_max)
      return fail(ErrorCode::invalid_argument, "The owner {} has the index {}; the largest is {}.",
                  one.owner.text(), one.index, tree_owners_max - 1);
    if (one.index >= taken.size()) {
      far.push_back(one.index);
    } else {
      if (taken[one.index])
        return fail(ErrorCode::invalid_argument, "Two owners have the index {}.", one.index);
      taken[one.index] = true;
    }
    if (sum + one.amount < sum)
      return fail(ErrorCode::invalid_argument, "The sum of all amounts has more than 64 bits.");
    sum += one.amount;
  }
  std::ranges::sort(far);
  const auto twice = std::ranges::adjacent_find(far);
  if (twice != far.end())
    return fail(ErrorCode::invalid_argument, "Two owners have the index {}.", *twice);
  return {};
}

}  // namespace

SumNode leaf_of(const Earned& earned) {
  crypto::RepeatedSha256 sha256;
  return hash_leaf(sha256, earned);
}

SumNode node_of(crypto::RepeatedSha256& sha256, const SumNode& left, const SumNode& right) {
  return hash_pair(sha256, left, right);
}

Result<SumNode> root_of_path(const Earned& leaf, const SumPath& path) {
  if (path.siblings.size() > tree_depth_max || path.position >> path.siblings.size() != 0)
    return fail(ErrorCode::data_loss, "The position {} is outside a tree of {} levels.",
                path.position, path.siblings.size());
  crypto::RepeatedSha256 sha256;
  SumNode node = hash_leaf(sha256, leaf);
  std::uint32_t position = path.position;
  for (const SumNode& sibling : path.siblings) {
    if (node.sum + sibling.sum < node.sum)
      return fail(ErrorCode::data_loss, "A sum of the path has more than 64 bits.");
    node =
        (position & 1) != 0 ? hash_pair(sha256, sibling, node) : hash_pair(sha256, node, sibling);
    position >>= 1;
  }
  return node;
}

Result<SumTree> SumTree::create(std::vector<Earned> owners) {
  if (owners.size() <= tree_owners_max) owners = sorted_by_owner(std::move(owners));
  WEFT_OK(check_owners(owners));
  SumTree tree(std::move(owners));
  tree.build();
  return tree;
}

SumTree SumTree::as_given(std::vector<Earned> owners) {
  SumTree tree(std::move(owners));
  tree.build();
  return tree;
}

void SumTree::build() {
  crypto::RepeatedSha256 sha256;
  std::vector<SumNode> level(std::max<std::size_t>(owners_.size(), 1));
  in_two_parts(owners_.size(), [&](std::size_t begin, std::size_t end) {
    crypto::RepeatedSha256 own;
    for (std::size_t i = begin; i < end; ++i) level[i] = hash_leaf(own, owners_[i]);
  });
  for (const Earned& one : owners_) units_ += one.units;
  empty_ = {SumNode{}};
  levels_.push_back(std::move(level));
  while (levels_.back().size() > 1) {
    const std::vector<SumNode>& below = levels_.back();
    std::vector<SumNode> above((below.size() + 1) / 2);
    in_two_parts(above.size(), [&](std::size_t begin, std::size_t end) {
      crypto::RepeatedSha256 own;
      for (std::size_t i = begin; i < end; ++i)
        above[i] = hash_pair(own, below[2 * i],
                             2 * i + 1 < below.size() ? below[2 * i + 1] : empty_.back());
    });
    empty_.push_back(hash_pair(sha256, empty_.back(), empty_.back()));
    levels_.push_back(std::move(above));
  }
}

Result<> SumTree::update(std::span<const Earned> changed) {
  std::vector<std::size_t> places;
  places.reserve(changed.size());
  std::uint64_t sum = root().sum;
  for (const Earned& one : changed) {
    WEFT_ASSIGN(const std::uint32_t at, position(one.owner));
    const Earned& old = owners_[at];
    if (one.index != old.index || one.amount < old.amount || one.units < old.units)
      return fail(ErrorCode::invalid_argument,
                  "The owner {} goes from index {}, amount {} and units {} to index {}, amount {} "
                  "and units {}; the index must stay, and the others must not fall.",
                  one.owner.text(), old.index, old.amount, old.units, one.index, one.amount,
                  one.units);
    const std::uint64_t more = one.amount - old.amount;
    if (sum + more < sum)
      return fail(ErrorCode::invalid_argument, "The sum of all amounts has more than 64 bits.");
    sum += more;
    places.push_back(at);
  }
  crypto::RepeatedSha256 sha256;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    Earned& own = owners_[places[i]];
    // `changed` names this owner twice, and the greater values are set already.
    if (changed[i].amount < own.amount || changed[i].units < own.units) continue;
    units_ += changed[i].units - own.units;
    own = changed[i];
    levels_[0][places[i]] = hash_leaf(sha256, own);
  }
  std::ranges::sort(places);
  for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
    for (std::size_t& at : places) at /= 2;
    const auto doubled = std::ranges::unique(places);
    places.erase(doubled.begin(), doubled.end());
    for (const std::size_t at : places)
      levels_[level + 1][at] = hash_pair(sha256, node(level, 2 * at), node(level, 2 * at + 1));
  }
  return {};
}

Result<std::uint32_t> SumTree::position(const PublicKey& owner) const {
  const auto found = std::ranges::lower_bound(owners_, owner, {}, &Earned::owner);
  if (found == owners_.end() || found->owner != owner)
    return fail(ErrorCode::not_found, "The owner {} is not in the tree.", owner.text());
  return static_cast<std::uint32_t>(found - owners_.begin());
}

SumNode SumTree::node(std::size_t level, std::size_t position) const {
  return position < levels_[level].size() ? levels_[level][position] : empty_[level];
}

SumPath SumTree::path(std::uint32_t position) const {
  check(position >> depth() == 0, "a position is inside the tree");
  SumPath out{.position = position, .siblings = {}};
  for (std::size_t level = 0; level < depth(); ++level)
    out.siblings.push_back(node(level, (position >> level) ^ 1U));
  return out;
}

}  // namespace weft::solana
