// IP addresses as bounds count them: IPv4 one by one, IPv6 by its /64, which one subscriber has
// whole; and the names by which a server may be asked for. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::net {

// An IPv4 address that is written as IPv6 (::ffff:192.0.2.1) is the IPv4 address.
struct Address {
  bool is_v4 = false;
  std::array<std::uint8_t, 16> bytes{};  // IPv4: the first four.

  // Numbers only, without brackets, port or zone.
  [[nodiscard]] static std::optional<Address> parse(std::string_view text);
  [[nodiscard]] bool is_loopback() const;
  // Private, link-local, or behind a carrier's NAT.
  [[nodiscard]] bool is_private() const;
  bool operator==(const Address&) const = default;
};

// "192.0.2.1" for IPv4, "2001:db8:0:1::/64" for IPv6; what is no address stands for itself.
[[nodiscard]] std::string address_group(std::string_view address);

// The network to which an address belongs, as far as its owner may have many addresses there: the
// /24 of IPv4, the /48 of IPv6. Empty for loopback, for private and link-local ranges, and for what
// is no address: these are not strangers of one network.
[[nodiscard]] std::string address_prefix(std::string_view address);

// The client that asked a server behind a proxy: the last address of X-Forwarded-For that is not
// itself a trusted proxy's. The peer's own address if the peer is no trusted proxy, or says nothing
// usable.
[[nodiscard]] std::string forwarded_address(std::string_view peer, std::string_view forwarded_for,
                                            std::span<const std::string> trusted);

// The host of "HOST", "HOST:PORT" or "[V6]:PORT", in lower case, without brackets, port and final
// dot. Empty if the text is not of this form.
[[nodiscard]] std::string host_of(std::string_view authority);

// Whether a host is one of the names. "*.example.org" stands for one label more. Every address of
// loopback and "localhost" are always among them.
[[nodiscard]] bool is_accepted_host(std::string_view host, std::span<const std::string> names);

}  // namespace weft::net
