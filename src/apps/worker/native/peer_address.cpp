#include "apps/worker/native/peer_address.h"

#include <algorithm>

#include "platform/net/address_ranges.h"

namespace weft::worker {

bool may_call(const net::Address& peer, std::span<const net::Address> own,
              const PeerAddressRules& rules) {
  if (peer.is_loopback()) return rules.loopback;
  if (!rules.special && net::is_special(peer)) return false;
  const auto network = net::private_network_of(peer);
  if (!network || rules.any_private) return true;
  return std::ranges::any_of(own, [&](const net::Address& address) {
    return net::private_network_of(address) == network;
  });
}

}  // namespace weft::worker
