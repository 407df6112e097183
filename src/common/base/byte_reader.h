// Reads little-endian numbers, the counterpart of append_le (bytes.h).
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/base/bytes.h"
#include "common/base/check.h"

namespace weft {

// The number whose bytes begin at bytes[at]. All of its bytes must exist (a check).
template <std::unsigned_integral Integer>
[[nodiscard]] Integer read_le(ByteSpan bytes, std::size_t at = 0) {
  check(at <= bytes.size() && bytes.size() - at >= sizeof(Integer), "a number is whole");
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    value = static_cast<Integer>(value | static_cast<Integer>(bytes[at + i]) << (8 * i));
  return value;
}

// Reads values one after the other from bytes that a stranger may have sent. A value that is not
// complete reads as zero or empty; all later values do so too, and whole() is false. So a parser
// reads everything and checks whole() once, at its end.
//
// Lifetime: the bytes must outlive the reader and the results of take().
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : rest_(bytes) {}

  template <std::unsigned_integral Integer>
  [[nodiscard]] Integer integer() {
    const ByteSpan bytes = take(sizeof(Integer));
    return bytes.empty() ? Integer{0} : read_le<Integer>(bytes);
  }
  // Reads an IEEE 754 number of four or eight bytes.
  template <std::floating_point Real>
  [[nodiscard]] Real real() {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Real>(integer<Bits>());
  }
  // Reads bytes of a FixedBytes type: a hash, a key or an id.
  template <class Fixed>
  [[nodiscard]] Fixed fixed() {
    Fixed value;
    const ByteSpan bytes = take(Fixed::size);
    if (!bytes.empty()) std::memcpy(value.bytes.data(), bytes.data(), Fixed::size);
    return value;
  }
  // Reads a u32 count of items that take at least `bytes_each` bytes each, and returns it as a size
  // for a list. Returns 0 if the rest is too short for this count.
  [[nodiscard]] std::size_t count(std::size_t bytes_each) {
    const std::size_t items = integer<std::uint32_t>();
    if (items <= rest_.size() / bytes_each) return items;
    fail_reading();
    return 0;
  }
  [[nodiscard]] ByteSpan take(std::uint64_t size) {
    if (size > rest_.size()) {
      fail_reading();
      return {};
    }
    const ByteSpan taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  [[nodiscard]] std::size_t rest_bytes() const { return rest_.size(); }
  // True if every requested value was complete.
  [[nodiscard]] bool whole() const { return whole_; }
  // True if every requested value was complete and no bytes are left.
  [[nodiscard]] bool at_end() const { return whole_ && rest_.empty(); }

 private:
  void fail_reading() {
    whole_ = false;
    rest_ = {};
  }

  ByteSpan rest_;
  bool whole_ = true;
};

}  // namespace weft
