// Which addresses are of a network of their own, and which are of no host. Pure.
#pragma once

#include <optional>

#include "platform/net/address.h"

namespace weft::net {

// Whether the address is of no host that others may call (RFC 6890): this network, this link,
// multicast, reserved; and IPv6 that carries an IPv4 address, which could be any of these.
[[nodiscard]] bool is_special(const Address& address);
// The private network in which the address is, as a number; nothing for other addresses.
[[nodiscard]] std::optional<std::size_t> private_network_of(const Address& address);

}  // namespace weft::net
