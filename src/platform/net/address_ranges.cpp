#include "platform/net/address_ranges.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::net {
namespace {

struct Range {
  std::string_view first;
  unsigned bits;
};

bool is_in(const Address& address, const Range& range) {
  const auto first = Address::parse(range.first);
  if (!first || first->is_v4 != address.is_v4) return false;
  for (unsigned bit = 0; bit < range.bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if ((first->bytes[bit / 8] & mask) != (address.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

constexpr std::array special{
    Range{"0.0.0.0", 8},    Range{"169.254.0.0", 16}, Range{"192.0.0.0", 24},
    Range{"224.0.0.0", 4},  Range{"240.0.0.0", 4},    Range{"::", 96},
    Range{"64:ff9b::", 96}, Range{"64:ff9b:1::", 48}, Range{"100::", 64},
    Range{"2001::", 32},    Range{"2002::", 16},      Range{"fe80::", 10},
    Range{"fec0::", 10},    Range{"ff00::", 8},
};
constexpr std::array privates{
    Range{"10.0.0.0", 8},     Range{"100.64.0.0", 10}, Range{"172.16.0.0", 12},
    Range{"192.168.0.0", 16}, Range{"fc00::", 7},
};

}  // namespace

bool is_special(const Address& address) {
  return std::ranges::any_of(special, [&](const Range& range) { return is_in(address, range); });
}

std::optional<std::size_t> private_network_of(const Address& address) {
  const auto found =
      std::ranges::find_if(privates, [&](const Range& range) { return is_in(address, range); });
  if (found == privates.end()) return std::nullopt;
  return static_cast<std::size_t>(found - privates.begin());
}

}  // namespace weft::net
