// A key of the curve P-256 for a key exchange (ECDH). Natively only, with OpenSSL.
#pragma once

#include <memory>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::crypto {

// A point of the curve, not compressed: 4, x and y.
struct ExchangePoint : FixedBytes<65> {};

class ExchangeKey {
 public:
  // Makes a random key.
  [[nodiscard]] static ExchangeKey generate();
  // For tests with fixed keys. `secret` is a big-endian number of 32 bytes. Fails with
  // invalid_argument if the point is not the one of the secret.
  [[nodiscard]] static Result<ExchangeKey> from_parts(ByteSpan secret, const ExchangePoint& point);
  ExchangeKey(ExchangeKey&&) noexcept;
  ExchangeKey& operator=(ExchangeKey&&) noexcept;
  ~ExchangeKey();

  [[nodiscard]] const ExchangePoint& point() const { return point_; }
  // Returns the secret that both sides compute: the x coordinate, 32 bytes. Fails with
  // invalid_argument if `theirs` is not a point of the curve.
  [[nodiscard]] Result<ByteVector> shared_with(const ExchangePoint& theirs) const;

 private:
  struct Key;
  ExchangeKey(std::unique_ptr<Key> key, ExchangePoint point);
  std::unique_ptr<Key> key_;
  ExchangePoint point_;
};

}  // namespace weft::crypto
