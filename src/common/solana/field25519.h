// Numbers modulo 2^255 - 19 in five limbs of 51 bits, for the test if an address is on the curve.
// Not in constant time, because no secret is computed with them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace weft::solana {

class Field25519 {
 public:
  // Reads a little-endian number. The highest bit is ignored; a value of p = 2^255 - 19 or more is
  // reduced modulo p.
  [[nodiscard]] static Field25519 from_bytes(std::span<const std::uint8_t, 32> bytes);
  [[nodiscard]] static Field25519 one();
  [[nodiscard]] static Field25519 edwards_d();  // The constant d of edwards25519: -121665 / 121666.

  friend Field25519 operator+(const Field25519& a, const Field25519& b);
  friend Field25519 operator-(const Field25519& a, const Field25519& b);
  friend Field25519 operator*(const Field25519& a, const Field25519& b);
  // True if the number is a square. Zero counts as one.
  [[nodiscard]] bool is_square() const;
  // Writes the number in its unique form below p, little-endian.
  [[nodiscard]] std::array<std::uint8_t, 32> bytes() const;

 private:
  void carry();
  std::array<std::uint64_t, 5> limbs_{};  // Each limb is below 2^52 between operations.
};

}  // namespace weft::solana
