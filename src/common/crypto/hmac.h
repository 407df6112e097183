// HMAC-SHA-256 (RFC 2104), natively and in the browser, and a comparison whose time does not depend
// on the bytes.
#pragma once

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::crypto {

[[nodiscard]] Hash hmac_sha256(ByteSpan key, ByteSpan message);

#ifndef __EMSCRIPTEN__
// HMAC-SHA-1, for protocols of others that require it (credentials of TURN servers).
[[nodiscard]] ByteVector hmac_sha1(ByteSpan key, ByteSpan message);
#endif

// True if the bytes are equal. Returns false at once if the lengths differ, because lengths are not
// secret.
[[nodiscard]] bool equal_in_constant_time(ByteSpan a, ByteSpan b);

}  // namespace weft::crypto
