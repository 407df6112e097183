#include "apps/worker/native/peer_address.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::worker {
namespace {

struct Range {
  std::string_view first;
  unsigned bits;
};

bool is_in(const net::Address& address, const Range& range) {
  const auto first = net::Address::parse(range.first);
  if (!first || first->is_v4 != address.is_v4) return false;
  for (unsigned bit = 0; bit < range.bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if ((first->bytes[bit / 8] & mask) != (address.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

// RFC 6890: this network, this link, multicast, reserved; and IPv6 that carries an IPv4 address,
// which could be any of these.
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

bool may_call(const net::Address& peer, std::span<const net::Address> own,
              const PeerAddressRules& rules) {
  if (peer.is_loopback()) return rules.loopback;
  const auto holds = [](const net::Address& address) {
    return [&address](const Range& range) { return is_in(address, range); };
  };
  if (!rules.special && std::ranges::any_of(special, holds(peer))) return false;
  const auto network = std::ranges::find_if(privates, holds(peer));
  if (network == privates.end() || rules.any_private) return true;
  return std::ranges::any_of(own,
                             [&](const net::Address& address) { return is_in(address, *network); });
}

}  // namespace weft::worker
