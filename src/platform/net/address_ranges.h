// Ranges of IP addresses: the private networks, and the ranges that name no host. Pure.
#pragma once

#include <optional>

#include "platform/net/address.h"

namespace weft::net {

// True if the address is in a range that names no host to connect to (RFC 6890): "this network",
// link-local, multicast, reserved. IPv6 addresses that carry an IPv4 address count as special too,
// because the carried address could be in such a range.
[[nodiscard]] bool is_special(const Address& address);
// Returns the number of the private network that contains the address; nullopt for other addresses.
[[nodiscard]] std::optional<std::size_t> private_network_of(const Address& address);

}  // namespace weft::net
