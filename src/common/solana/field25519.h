// Numbers modulo 2^255 - 19 in five limbs of 51 bits: what the curve test of addresses needs. Not
// in constant time: no secret is computed with.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace weft::solana {

class Field25519 {
 public:
  // 32 bytes, little-endian; the highest bit is dropped, p and more is reduced.
  [[nodiscard]] static Field25519 from_bytes(std::span<const std::uint8_t, 32> bytes);
  [[nodiscard]] static Field25519 one();
  [[nodiscard]] static Field25519 edwards_d();  // -121665 / 121666.

  friend Field25519 operator+(const Field25519& a, const Field25519& b);
  friend Field25519 operator-(const Field25519& a, const Field25519& b);
  friend Field25519 operator*(const Field25519& a, const Field25519& b);
  // Zero counts as a square.
  [[nodiscard]] bool is_square() const;
  // The one form below p, little-endian.
  [[nodiscard]] std::array<std::uint8_t, 32> bytes() const;

 private:
  void carry();
  std::array<std::uint64_t, 5> limbs_{};  // Each below 2^52 between operations.
};

}  // namespace weft::solana
