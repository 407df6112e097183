#include "common/proof/merkle.h"

#include <algorithm>

#include "common/crypto/sha256.h"

namespace weft::proof {
namespace {

constexpr std::uint8_t leaf_domain = 0x00;
constexpr std::uint8_t node_domain = 0x01;

Hash leaf_hash(ByteSpan bytes) {
  crypto::Sha256 digest;
  digest.update({&leaf_domain, 1}).update(bytes);
  return digest.finish();
}

Hash node_hash(const Hash& left, const Hash& right) {
  crypto::Sha256 digest;
  digest.update({&node_domain, 1}).update(left.span()).update(right.span());
  return digest.finish();
}

// Computes the next level: pairs are joined, and an odd last node is promoted.
void climb(std::vector<Hash>& level) {
  std::size_t parents = 0;
  for (std::size_t i = 0; i < level.size(); i += 2)
    level[parents++] = i + 1 < level.size() ? node_hash(level[i], level[i + 1]) : level[i];
  level.resize(parents);
}

Hash root_of(std::vector<Hash> level) {
  if (level.empty()) return crypto::sha256({});
  while (level.size() > 1) climb(level);
  return level.front();
}

std::uint64_t chunks_of(ByteSpan output) { return (output.size() + chunk_bytes - 1) / chunk_bytes; }

ByteSpan chunk_of(ByteSpan output, std::uint64_t index) {
  const std::size_t offset = static_cast<std::size_t>(index) * chunk_bytes;
  return output.subspan(offset, std::min(chunk_bytes, output.size() - offset));
}

}  // namespace

std::vector<Hash> chunk_leaves(ByteSpan output) {
  std::vector<Hash> leaves(chunks_of(output));
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = leaf_hash(chunk_of(output, i));
  return leaves;
}

Hash root_of_leaves(std::vector<Hash> leaves) { return root_of(std::move(leaves)); }

namespace {

std::vector<Hash> root_leaves(std::span<const Hash> roots) {
  std::vector<Hash> leaves;
  leaves.reserve(roots.size());
  for (const Hash& root : roots) leaves.push_back(leaf_hash(root.span()));
  return leaves;
}

InclusionPath path_to(std::vector<Hash> level, std::uint64_t index) {
  InclusionPath path{.index = index, .chunks = level.size(), .siblings = {}};
  for (std::uint64_t at = index; level.size() > 1; at /= 2) {
    const std::uint64_t sibling = at ^ 1;
    if (sibling < level.size()) path.siblings.push_back(level[static_cast<std::size_t>(sibling)]);
    climb(level);
  }
  return path;
}

bool leads_to(const Hash& root, Hash hash, const InclusionPath& path) {
  auto sibling = path.siblings.begin();
  std::uint64_t at = path.index;
  for (std::uint64_t width = path.chunks; width > 1; width = (width + 1) / 2, at /= 2) {
    if ((at ^ 1) >= width) continue;  // A node without a sibling moves up unchanged.
    if (sibling == path.siblings.end()) return false;
    hash = at % 2 == 0 ? node_hash(hash, *sibling) : node_hash(*sibling, hash);
    ++sibling;
  }
  return sibling == path.siblings.end() && hash == root;
}

}  // namespace

Hash output_root(ByteSpan output) { return root_of(chunk_leaves(output)); }

Hash root_of_roots(std::span<const Hash> roots) { return root_of(root_leaves(roots)); }

Hash task_root(std::span<const ByteVector> outputs) {
  std::vector<Hash> roots;
  roots.reserve(outputs.size());
  for (const ByteVector& output : outputs) roots.push_back(output_root(output));
  return root_of_roots(roots);
}

Result<InclusionPath> inclusion_path(ByteSpan output, std::uint64_t chunk_index) {
  const std::uint64_t chunks = chunks_of(output);
  if (chunk_index >= chunks)
    return fail(ErrorCode::invalid_argument, "Chunk {} does not exist; the output has {}.",
                chunk_index, chunks);
  return path_to(chunk_leaves(output), chunk_index);
}

Result<InclusionPath> inclusion_path_of_leaves(std::vector<Hash> leaves,
                                               std::uint64_t chunk_index) {
  if (chunk_index >= leaves.size())
    return fail(ErrorCode::invalid_argument, "Chunk {} does not exist; the output has {}.",
                chunk_index, leaves.size());
  return path_to(std::move(leaves), chunk_index);
}

Result<InclusionPath> inclusion_path_of_roots(std::span<const Hash> roots, std::uint64_t index) {
  if (index >= roots.size())
    return fail(ErrorCode::invalid_argument, "Root {} does not exist; there are {}.", index,
                roots.size());
  return path_to(root_leaves(roots), index);
}

bool verify_inclusion(const Hash& root, ByteSpan chunk, const InclusionPath& path) {
  if (path.index >= path.chunks || chunk.empty() || chunk.size() > chunk_bytes) return false;
  if (path.index + 1 < path.chunks && chunk.size() != chunk_bytes) return false;
  return leads_to(root, leaf_hash(chunk), path);
}

bool verify_inclusion_of_root(const Hash& root, const Hash& included, const InclusionPath& path) {
  return path.index < path.chunks && leads_to(root, leaf_hash(included.span()), path);
}

}  // namespace weft::proof
