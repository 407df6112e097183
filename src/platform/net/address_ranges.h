// Which addresses are of a network of their own, and which are of no host. Pure.
#pragma once

#include <optional>

#include "platform/net/address.h"

namespace weft::net {

// Whether the address is in a range that names no host to connect to (RFC 6890): this network, this
// link, multicast, reserved. IPv6 addresses that carry an IPv4 address count as special too,
// because the address that they carry could be any of these.
[[nodiscard]] bool is_special(const Address& address);
// The private network in which the address is, as a number; nothing for other addresses.
[[nodiscard]] std::optional<std::size_t> private_network_of(const Address& address);

}  // namespace weft::net
