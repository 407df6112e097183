// What a worker commits to: chunked Merkle trees over outputs: chunks of 64 KiB, leaf =
// SHA-256(0x00 || chunk), node = SHA-256(0x01 || left || right), an odd node is promoted, the empty
// tree is SHA-256("") (RFC 9162, section 2.1.1).
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
// Root of a tree whose leaves are hashes already (RFC 9162's leaf hashing is applied to each, so
// that a root is never taken for a node): a task's root over its outputs' roots, a job's over its
// tasks'.
[[nodiscard]] Hash root_of_roots(std::span<const Hash> roots);
[[nodiscard]] Hash task_root(std::span<const ByteVector> outputs);

// Shows that chunk `index` of `chunks` belongs to a root: the sibling hashes from the leaf up.
struct InclusionPath {
  std::uint64_t index = 0;
  std::uint64_t chunks = 0;
  std::vector<Hash> siblings;
};
[[nodiscard]] Result<InclusionPath> inclusion_path(ByteSpan output, std::uint64_t chunk_index);
// The same from what chunk_leaves() gave: what is kept of an output to open its root later without
// the bytes.
[[nodiscard]] Result<InclusionPath> inclusion_path_of_leaves(std::vector<Hash> leaves,
                                                             std::uint64_t chunk_index);
[[nodiscard]] std::vector<Hash> chunk_leaves(ByteSpan output);
[[nodiscard]] Hash root_of_leaves(std::vector<Hash> leaves);
// The same for one of `roots` in root_of_roots().
[[nodiscard]] Result<InclusionPath> inclusion_path_of_roots(std::span<const Hash> roots,
                                                            std::uint64_t index);
[[nodiscard]] bool verify_inclusion(const Hash& root, ByteSpan chunk, const InclusionPath& path);
[[nodiscard]] bool verify_inclusion_of_root(const Hash& root, const Hash& included,
                                            const InclusionPath& path);

}  // namespace weft::proof
