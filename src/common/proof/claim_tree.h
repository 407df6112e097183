// A session's claims as the leaves of a Merkle tree, so that one of them can be shown with a few
// hashes and without the others. A device signs the root (receipt.h), and the on-chain
// program reads the same bytes (chain/program/receipts.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/proof/receipt.h"

namespace weft::proof {

inline constexpr std::size_t claim_levels_max = 8;  // The most that the on-chain program reads.

// From a claim up to the root.
struct ClaimPath {
  std::vector<Hash> siblings{};  // Lowest first; where a node is promoted there is none.
  std::uint64_t sides = 0;       // A bit for each sibling: 1 where the path's node is on the right.
};

// SHA-256("weft-claim-2" || job id || u32 index || u32 attempt || root), little-endian. A claim of
// a part has another word, so that the on-chain program does not read it, and its range:
// SHA-256("weft-part-2" || job id || u32 index || u32 attempt || u32 first || u32 count || root).
[[nodiscard]] Hash claim_digest(const Claim& claim);
// The tree of merkle.h over the claims' digests, in their order.
[[nodiscard]] Hash root_of_claims(std::span<const Claim> claims);
// invalid_argument if there is no such claim, or more levels than the on-chain program reads.
[[nodiscard]] Result<ClaimPath> path_of_claim(std::span<const Claim> claims, std::size_t index);
// The root that the path leads to. Of `sides` only the bits of siblings are read.
[[nodiscard]] Hash root_by_path(const Claim& claim, const ClaimPath& path);

// A record of claims_text().
void append_claim(ByteVector& out, const Claim& claim);
// The claims as the owner of one job is shown them: claims of other jobs, which may be other
// owners', as their digests, so that the root can still be computed. "weft-claims-3" || u32 n || n
// * (u8 1 || task id || u32 attempt || root || u32 first || u32 count, or u8 0 || claim_digest()),
// little-endian. Where all are the job's: claims_text().
[[nodiscard]] ByteVector claims_shown(std::span<const Claim> claims, const JobId& job);

}  // namespace weft::proof
