// A session's claims as the leaves of a Merkle tree, so that one claim can be proved with a few
// hashes and without the other claims. A device signs the root (receipt.h), and the on-chain
// program reads these bytes (chain/program/receipts.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/proof/receipt.h"

namespace weft::proof {

// The most levels that the on-chain program reads.
inline constexpr std::size_t claim_levels_max = 8;

// The path from a claim up to the root.
struct ClaimPath {
  std::vector<Hash> siblings{};  // Lowest first; a node that is promoted has no sibling.
  std::uint64_t sides = 0;       // A bit for each sibling: 1 if the path's node is on the right.
};

// SHA-256("weft-claim-2" || job id || u32 index || u32 attempt || root), little-endian. The digest
// of a claim for a part begins with another word, so that the on-chain program does not read it,
// and includes its range: SHA-256("weft-part-2" || job id || u32 index || u32 attempt || u32 first
// || u32 count || root).
[[nodiscard]] Hash claim_digest(const Claim& claim);
// The root of the tree (merkle.h) over the claims' digests, in their order.
[[nodiscard]] Hash root_of_claims(std::span<const Claim> claims);
// Fails with invalid_argument if there is no claim with this index, or if the tree has more levels
// than the on-chain program reads.
[[nodiscard]] Result<ClaimPath> path_of_claim(std::span<const Claim> claims, std::size_t index);
// The root to which the path leads. Only the bits of `sides` that have a sibling are read.
[[nodiscard]] Hash root_by_path(const Claim& claim, const ClaimPath& path);

// Appends one claim in the form of claims_text().
void append_claim(ByteVector& out, const Claim& claim);
// The claims in the form that the owner of one job is shown. Claims of other jobs, which may belong
// to other owners, are replaced by their digests, so that the root can still be computed.
// "weft-claims-3" || u32 n || n * (u8 1 || task id || u32 attempt || root || u32 first || u32
// count, or u8 0 || claim_digest()), little-endian. If all claims are of the job, this is
// claims_text().
[[nodiscard]] ByteVector claims_shown(std::span<const Claim> claims, const JobId& job);

}  // namespace weft::proof
