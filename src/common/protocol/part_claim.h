// The claim that is signed for a part of an upload: its bytes, their place, and the blob that they
// belong to. So an attacker that records a part cannot store other bytes with it, or the same bytes
// in another place.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace weft::protocol {

struct PartClaim {
  Hash blob = {};  // Hash of the whole blob.
  std::uint64_t first = 0;
  std::uint64_t total = 0;  // Bytes of the whole blob.
  Hash part = {};           // SHA-256 of the part's bytes: the header Weft-Part.
};
// The hash that a request's claim has in place of the hash of its body (signing.h):
// SHA-256("weft-part-1" || blob || u64 first || u64 total || part), numbers little-endian.
[[nodiscard]] Hash part_digest(const PartClaim& claim);

}  // namespace weft::protocol
