// Decides which addresses of other members a worker connects to. Strangers name these addresses,
// and the success of a connection is reported, so without bounds a stranger could use a worker to
// search its network for open ports. Pure.
#pragma once

#include <span>

#include "platform/net/address.h"

namespace weft::worker {

// The addresses to which a worker may connect. Each field is one defence, which a test turns off to
// show that its attack then succeeds.
struct PeerAddressRules {
  bool loopback = false;     // Allows addresses of this machine, if its coordinator is on it.
  bool special = false;      // Allows link-local and unspecified addresses.
  bool any_private = false;  // Allows all private networks.
};

// True if the worker may connect to `peer`. `own` are the worker's addresses: the address towards
// its coordinator, and the address that it offers to others. A `peer` in a private network is
// allowed only if one of them is in that network.
[[nodiscard]] bool may_call(const net::Address& peer, std::span<const net::Address> own,
                            const PeerAddressRules& rules);

}  // namespace weft::worker
