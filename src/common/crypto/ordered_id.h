// Random ids that sort by their time of creation. Rows that are made together are then near each
// other in an index; random ids would each change a page of their own. 48 bits of Unix
// milliseconds, big-endian, then 80 random bits (RFC 9562's UUIDv7 without its version and
// variant).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::crypto {

inline constexpr std::size_t ordered_id_bytes = 16;

[[nodiscard]] std::array<std::uint8_t, ordered_id_bytes> ordered_id();

}  // namespace weft::crypto
