// HMAC-SHA-256 (RFC 2104), on both sides, and comparison that takes as long whatever the bytes are.
#pragma once

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::crypto {

[[nodiscard]] Hash hmac_sha256(ByteSpan key, ByteSpan message);

#ifndef __EMSCRIPTEN__
// HMAC-SHA-1, for what is spoken with others who want it (credentials of TURN servers).
[[nodiscard]] ByteVector hmac_sha1(ByteSpan key, ByteSpan message);
#endif

// False at once where the lengths differ: these are not secret.
[[nodiscard]] bool equal_in_constant_time(ByteSpan a, ByteSpan b);

}  // namespace weft::crypto
