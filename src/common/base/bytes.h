// Bytes and their text forms: hex (hashes), base58 (keys, as Solana writes them), base64 (inline
// data).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/base/result.h"

namespace weft {

using ByteVector = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

[[nodiscard]] inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] ByteSpan as_bytes(std::span<const T> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}
[[nodiscard]] inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Writes bytes as hex digits in lower case.
[[nodiscard]] std::string to_hex(ByteSpan bytes);
[[nodiscard]] Result<ByteVector> from_hex(std::string_view text);

// Base58 with Bitcoin's alphabet, as Solana uses it. from_base58 refuses more than 128 characters,
// because its time is quadratic.
[[nodiscard]] std::string to_base58(ByteSpan bytes);
[[nodiscard]] Result<ByteVector> from_base58(std::string_view text);

// Base64 of RFC 4648, section 4, padded; from_base64 refuses any other text.
[[nodiscard]] std::string to_base64(ByteSpan bytes);
[[nodiscard]] Result<ByteVector> from_base64(std::string_view text);

// Appends a little-endian integer to a buffer, for digests with a fixed layout.
template <class Integer>
  requires std::is_unsigned_v<Integer>
void append_le(ByteVector& out, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void append(ByteVector& out, ByteSpan bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// A fixed number of bytes as a type of its own. Hash, PublicKey and so on derive from it, so that
// one cannot be passed in place of another.
template <std::size_t size_bytes>
struct FixedBytes {
  static constexpr std::size_t size = size_bytes;
  std::array<std::uint8_t, size_bytes> bytes{};

  [[nodiscard]] ByteSpan span() const { return bytes; }
  friend auto operator<=>(const FixedBytes&, const FixedBytes&) = default;
};

}  // namespace weft
