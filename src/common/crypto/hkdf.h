// HKDF with SHA-256 (RFC 5869). Natively only, with OpenSSL.
#pragma once

#include "common/base/bytes.h"

namespace weft::crypto {

// Returns `size` bytes, at most 8,160. An empty salt is allowed; `secret` is not empty.
[[nodiscard]] ByteVector hkdf_sha256(ByteSpan secret, ByteSpan salt, ByteSpan info,
                                     std::size_t size);

}  // namespace weft::crypto
