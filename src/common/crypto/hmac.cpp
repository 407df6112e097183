#include "common/crypto/hmac.h"

#include <algorithm>
#include <array>

#include "common/crypto/sha256.h"

namespace weft::crypto {

Hash hmac_sha256(ByteSpan key, ByteSpan message) {
  constexpr std::size_t block = 64;
  std::array<std::uint8_t, block> inner{}, outer{};
  if (key.size() > block) {
    const Hash shorter = sha256(key);
    std::ranges::copy(shorter.bytes, inner.begin());
  } else {
    std::ranges::copy(key, inner.begin());
  }
  outer = inner;
  for (auto& byte : inner) byte ^= 0x36;
  for (auto& byte : outer) byte ^= 0x5c;
  Sha256 first;
  const Hash digest = first.update(inner).update(message).finish();
  Sha256 second;
  return second.update(outer).update(digest.span()).finish();
}

bool equal_in_constant_time(ByteSpan a, ByteSpan b) {
  if (a.size() != b.size()) return false;
  volatile std::uint8_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace weft::crypto
