// Which addresses of other members a worker calls: a stranger names them, and whether a call
// succeeds is told, so that without bounds a worker would look for open ports in its own network.
// Pure.
#pragma once

#include <span>

#include "platform/net/address.h"

namespace weft::worker {

// Each field is one defence. Tests turn one off and see its attack succeed.
struct PeerAddressRules {
  bool loopback = false;     // This machine is called: its coordinator is on it.
  bool special = false;      // So are addresses of no host, and of this link only.
  bool any_private = false;  // So are all private networks.
};

// Private networks are called if the worker itself is in the same one, by one of its addresses
// `own`: towards its coordinator, and the one that it names to others.
[[nodiscard]] bool may_call(const net::Address& peer, std::span<const net::Address> own,
                            const PeerAddressRules& rules);

}  // namespace weft::worker
