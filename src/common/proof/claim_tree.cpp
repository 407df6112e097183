#include "common/proof/claim_tree.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/counted.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"

namespace weft::proof {
namespace {

constexpr std::uint8_t leaf_byte = 0x00;
constexpr std::uint8_t node_byte = 0x01;
constexpr std::string_view shown_word = "weft-claims-3";

std::vector<Hash> digests_of(std::span<const Claim> claims) {
  std::vector<Hash> digests;
  digests.reserve(claims.size());
  for (const Claim& claim : claims) digests.push_back(claim_digest(claim));
  return digests;
}

}  // namespace

Hash claim_digest(const Claim& claim) {
  ByteVector fields;
  append(fields, as_bytes(std::string_view(claim.whole() ? "weft-claim-2" : "weft-part-2")));
  append(fields, claim.task.job.span());
  append_le(fields, claim.task.index);
  append_le(fields, claim.attempt);
  if (!claim.whole()) {
    append_le(fields, claim.first);
    append_le(fields, claim.count);
  }
  append(fields, claim.root.span());
  return crypto::sha256(fields);
}

Hash root_of_claims(std::span<const Claim> claims) { return root_of_roots(digests_of(claims)); }

Result<ClaimPath> path_of_claim(std::span<const Claim> claims, std::size_t index) {
  if (index >= claims.size())
    return fail(ErrorCode::invalid_argument,
                "The receipt has no claim {}: it has {}, numbered from 0.", index,
                counted(claims.size(), "claim"));
  WEFT_ASSIGN(InclusionPath found, inclusion_path_of_roots(digests_of(claims), index));
  if (found.siblings.size() > claim_levels_max)
    return fail(
        ErrorCode::invalid_argument,
        "A receipt of {} claims has paths of {} levels; the on-chain program reads at most {}.",
        claims.size(), found.siblings.size(), claim_levels_max);
  ClaimPath path{.siblings = std::move(found.siblings)};
  std::size_t level = 0;
  for (std::uint64_t width = found.chunks, at = index; width > 1; width = (width + 1) / 2, at /= 2)
    if ((at ^ 1) < width) path.sides |= (at & 1) << level++;
  return path;
}

Hash root_by_path(const Claim& claim, const ClaimPath& path) {
  check(path.siblings.size() <= 64, "a path has a bit for each sibling");
  const Hash digest = claim_digest(claim);
  Hash node = crypto::Sha256().update({&leaf_byte, 1}).update(digest.span()).finish();
  for (std::size_t level = 0; level < path.siblings.size(); ++level) {
    const Hash& sibling = path.siblings[level];
    const bool right = (path.sides >> level & 1) != 0;
    node = crypto::Sha256()
               .update({&node_byte, 1})
               .update((right ? sibling : node).span())
               .update((right ? node : sibling).span())
               .finish();
  }
  return node;
}

void append_claim(ByteVector& out, const Claim& claim) {
  append(out, claim.task.job.span());
  append_le(out, claim.task.index);
  append_le(out, claim.attempt);
  append(out, claim.root.span());
  append_le(out, claim.first);
  append_le(out, claim.count);
}

ByteVector claims_shown(std::span<const Claim> claims, const JobId& job) {
  const auto is_shown = [&](const Claim& claim) { return claim.task.job == job; };
  if (std::ranges::all_of(claims, is_shown)) return claims_text(claims);
  ByteVector out;
  append(out, as_bytes(shown_word));
  append_le(out, static_cast<std::uint32_t>(claims.size()));
  for (const Claim& claim : claims) {
    out.push_back(is_shown(claim) ? 1 : 0);
    if (is_shown(claim)) {
      append_claim(out, claim);
    } else {
      append(out, claim_digest(claim).span());
    }
  }
  return out;
}

}  // namespace weft::proof
