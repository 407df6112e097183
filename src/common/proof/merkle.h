// The Merkle trees by which a worker commits to its outputs: chunks of 64 KiB, leaf = SHA-256(0x00
// || chunk), node = SHA-256(0x01 || left || right), an odd node is promoted, the empty tree is
// SHA-256("") (RFC 9162, section 2.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::proof {

inline constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

// Root over the chunks of one output.
[[nodiscard]] Hash output_root(ByteSpan output);
// The root of a tree whose leaves are hashes: a task's root over its outputs' roots, or a job's
// root over its tasks' roots. RFC 9162's leaf hashing is applied to each hash, so that a root is
// never taken for a node.
[[nodiscard]] Hash root_of_roots(std::span<const Hash> roots);
[[nodiscard]] Hash task_root(std::span<const ByteVector> outputs);

// Shows that chunk `index` of `chunks` belongs to a root: the sibling hashes from the leaf up.
struct InclusionPath {
  std::uint64_t index = 0;
  std::uint64_t chunks = 0;
  std::vector<Hash> siblings;
};
[[nodiscard]] Result<InclusionPath> inclusion_path(ByteSpan output, std::uint64_t chunk_index);
// The path of a chunk, from the leaves that chunk_leaves() gave. With the leaves, the root of an
// output can be opened later without its bytes.
[[nodiscard]] Result<InclusionPath> inclusion_path_of_leaves(std::vector<Hash> leaves,
                                                             std::uint64_t chunk_index);
[[nodiscard]] std::vector<Hash> chunk_leaves(ByteSpan output);
[[nodiscard]] Hash root_of_leaves(std::vector<Hash> leaves);
// The path of one of `roots` in root_of_roots().
[[nodiscard]] Result<InclusionPath> inclusion_path_of_roots(std::span<const Hash> roots,
                                                            std::uint64_t index);
[[nodiscard]] bool verify_inclusion(const Hash& root, ByteSpan chunk, const InclusionPath& path);
[[nodiscard]] bool verify_inclusion_of_root(const Hash& root, const Hash& included,
                                            const InclusionPath& path);

}  // namespace weft::proof
