#include "common/crypto/ordered_id.h"

#include "common/base/clock.h"
#include "common/crypto/keys.h"

namespace weft::crypto {

std::array<std::uint8_t, ordered_id_bytes> ordered_id() {
  constexpr std::size_t time_bytes = 6;
  std::array<std::uint8_t, ordered_id_bytes> id{};
  random_bytes(id);
  const auto millis = static_cast<std::uint64_t>(unix_now());
  for (std::size_t i = 0; i < time_bytes; ++i)
    id[i] = static_cast<std::uint8_t>(millis >> (8 * (time_bytes - 1 - i)));
  return id;
}

}  // namespace weft::crypto
