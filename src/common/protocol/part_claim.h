// What a part of an upload is signed as: its bytes, where they belong, and the blob that they are
// of. So a part that was seen on its way stores nothing else, and nowhere else.
#pragma once

#include <cstdint>

#include "common/base/ids.h"

namespace weft::protocol {

struct PartClaim {
  Hash blob = {};  // The whole one's.
  std::uint64_t first = 0;
  std::uint64_t total = 0;  // Bytes of the whole.
  Hash part = {};           // SHA-256 of the part's bytes: the header Weft-Part.
};
// Stands for the body in the request's claim (signing.h):
// SHA-256("weft-part-1" || blob || u64 first || u64 total || part), numbers little-endian.
[[nodiscard]] Hash part_digest(const PartClaim& claim);

}  // namespace weft::protocol
