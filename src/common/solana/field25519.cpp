#include "common/solana/field25519.h"

namespace weft::solana {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t limb_mask = (std::uint64_t{1} << 51) - 1;

}  // namespace

Field25519 Field25519::from_bytes(std::span<const std::uint8_t, 32> bytes) {
  Field25519 out;
  for (std::size_t bit = 0; bit < 255; ++bit)
    out.limbs_[bit / 51] |= std::uint64_t{bytes[bit / 8] >> (bit % 8) & 1U} << (bit % 51);
  return out;
}

Field25519 Field25519::one() {
  Field25519 out;
  out.limbs_[0] = 1;
  return out;
}

Field25519 Field25519::edwards_d() {
  constexpr std::array<std::uint8_t, 32> d = {0xa3, 0x78, 0x59, 0x13, 0xca, 0x4d, 0xeb, 0x75,
                                              0xab, 0xd8, 0x41, 0x41, 0x4d, 0x0a, 0x70, 0x00,
                                              0x98, 0xe8, 0x79, 0x77, 0x79, 0x40, 0xc7, 0x8c,
                                              0x73, 0xfe, 0x6f, 0x2b, 0xee, 0x6c, 0x03, 0x52};
  return from_bytes(d);
}

void Field25519::carry() {
  for (std::size_t i = 0; i < 4; ++i) {
    limbs_[i + 1] += limbs_[i] >> 51;
    limbs_[i] &= limb_mask;
  }
  limbs_[0] += 19 * (limbs_[4] >> 51);
  limbs_[4] &= limb_mask;
  limbs_[1] += limbs_[0] >> 51;
  limbs_[0] &= limb_mask;
}

Field25519 operator+(const Field25519& a, const Field25519& b) {
  Field25519 out;
  for (std::size_t i = 0; i < 5; ++i) out.limbs_[i] = a.limbs_[i] + b.limbs_[i];
  out.carry();
  return out;
}

Field25519 operator-(const Field25519& a, const Field25519& b) {
  // 4p is added first, so that no limb becomes negative.
  Field25519 out;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::uint64_t four_p = 4 * (i == 0 ? limb_mask - 18 : limb_mask);
    out.limbs_[i] = a.limbs_[i] + four_p - b.limbs_[i];
  }
  out.carry();
  return out;
}

Field25519 operator*(const Field25519& a, const Field25519& b) {
  std::array<Wide, 5> sums{};
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      sums[(i + j) % 5] += Wide{a.limbs_[i]} * b.limbs_[j] * (i + j >= 5 ? 19U : 1U);
  Field25519 out;
  Wide carried = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    sums[i] += carried;
    out.limbs_[i] = static_cast<std::uint64_t>(sums[i]) & limb_mask;
    carried = sums[i] >> 51;
  }
  // The carry out of the top limb is added to the lowest one 19 times. The sum may need more than
  // 64 bits before it is split.
  const Wide low = Wide{out.limbs_[0]} + carried * 19;
  out.limbs_[0] = static_cast<std::uint64_t>(low) & limb_mask;
  out.limbs_[1] += static_cast<std::uint64_t>(low >> 51);
  out.carry();
  return out;
}

std::array<std::uint8_t, 32> Field25519::bytes() const {
  Field25519 reduced = *this;
  reduced.carry();
  reduced.carry();
  // The number is below 2^255 now, so that at most one subtraction of p makes it smaller than p.
  std::uint64_t excess = (reduced.limbs_[0] + 19) >> 51;
  for (std::size_t i = 1; i < 5; ++i) excess = (reduced.limbs_[i] + excess) >> 51;
  reduced.limbs_[0] += 19 * excess;
  for (std::size_t i = 0; i < 4; ++i) {
    reduced.limbs_[i + 1] += reduced.limbs_[i] >> 51;
    reduced.limbs_[i] &= limb_mask;
  }
  reduced.limbs_[4] &= limb_mask;
  std::array<std::uint8_t, 32> out{};
  for (std::size_t bit = 0; bit < 255; ++bit)
    out[bit / 8] = static_cast<std::uint8_t>(
        out[bit / 8] | (reduced.limbs_[bit / 51] >> (bit % 51) & 1) << (bit % 8));
  return out;
}

bool Field25519::is_square() const {
  // Euler's criterion: a^((p-1)/2) is 0, 1 or -1. All bits of (p-1)/2 = 2^254 - 10 are ones, except
  // bits 0 and 3.
  Field25519 power = one();
  for (int bit = 253; bit >= 0; --bit) {
    power = power * power;
    if (bit != 0 && bit != 3) power = power * *this;
  }
  const auto value = power.bytes();
  for (std::size_t i = 1; i < value.size(); ++i)
    if (value[i] != 0) return false;
  return value[0] <= 1;
}

}  // namespace weft::solana
