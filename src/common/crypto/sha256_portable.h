// SHA-256 (FIPS 180-4) without a library, for WebAssembly, because WebCrypto is asynchronous and
// not incremental. It is also compiled natively, so that tests compare it with OpenSSL.
#pragma once

#include <array>
#include <cstdint>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::crypto {

class Sha256Portable {
 public:
  void update(ByteSpan bytes);
  [[nodiscard]] Hash finish();  // Call this once: the object cannot be used afterwards.

 private:
  void compress(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t length_bytes_ = 0;
};

}  // namespace weft::crypto
