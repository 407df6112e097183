// What a client's wallet signs, so that a signature over one thing is none over another: each kind has a prefix of its own.
// (submit_digest() in codec.h is that of a job.)
#pragma once

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::protocol {

// To put a blob: SHA-256("weft-blob-1" || the blob's hash || nonce), nonce being 16 bytes.
[[nodiscard]] ByteVector blob_digest(const Hash& blob, ByteSpan nonce);

}  // namespace weft::protocol
