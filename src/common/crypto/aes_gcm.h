// AES-256 in Galois/Counter Mode (NIST SP 800-38D) with a tag of 16 bytes. Natively only, with
// OpenSSL.
#pragma once

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::crypto {

struct AesKey : FixedBytes<32> {};
// Never used twice with one key.
struct AesNonce : FixedBytes<12> {};
inline constexpr std::size_t aes_tag_bytes = 16;

// Returns the sealed bytes and the tag. `associated` is authenticated and not part of the result.
[[nodiscard]] ByteVector aes_gcm_seal(const AesKey& key, const AesNonce& nonce, ByteSpan associated,
                                      ByteSpan plain);
// Fails with permission_denied if the bytes were not sealed with this key, nonce and associated
// data.
[[nodiscard]] Result<ByteVector> aes_gcm_open(const AesKey& key, const AesNonce& nonce,
                                              ByteSpan associated, ByteSpan sealed);

}  // namespace weft::crypto
