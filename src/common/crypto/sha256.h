// SHA-256 (FIPS 180-4), synchronous and incremental: with OpenSSL natively, and with our own small
// implementation in WebAssembly, where WebCrypto would be asynchronous.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "common/base/bytes.h"
#include "common/base/ids.h"

namespace weft::crypto {

class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256(Sha256&&) noexcept;
  ~Sha256();
  Sha256& update(ByteSpan bytes);
  [[nodiscard]] Hash finish();  // Call this once: the object cannot be used afterwards.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Hash sha256(ByteSpan bytes);

}  // namespace weft::crypto
