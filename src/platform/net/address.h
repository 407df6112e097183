// IP addresses in the form in which bounds count them (each IPv4 address, each /64 of IPv6 because
// one subscriber has all of it), and the host names for which a server answers. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft::net {

// An IP address. An IPv4 address that is written as IPv6 (::ffff:192.0.2.1) becomes the IPv4
// address.
struct Address {
  bool is_v4 = false;
  std::array<std::uint8_t, 16> bytes{};  // An IPv4 address uses only the first four bytes.

  // Parses a numeric address without brackets, port or zone.
  [[nodiscard]] static std::optional<Address> parse(std::string_view text);
  [[nodiscard]] bool is_loopback() const;
  // True if the address is private, link-local, or in the range of a carrier's NAT (100.64.0.0/10).
  [[nodiscard]] bool is_private() const;
  bool operator==(const Address&) const = default;
};

// Returns "192.0.2.1" for IPv4 and "2001:db8:0:1::/64" for IPv6. A text that is no address is
// returned unchanged.
[[nodiscard]] std::string address_group(std::string_view address);

// Returns the network in which one owner may have many addresses: the /24 of an IPv4 address, the
// /48 of an IPv6 address. Empty for a text that is no address and for loopback, private and
// link-local addresses, because these are not strangers of one network.
[[nodiscard]] std::string address_prefix(std::string_view address);

// Returns the address of the client that asked a server behind a proxy: the last address of
// X-Forwarded-For that is not a trusted proxy's. It is the peer's own address if the peer is not a
// trusted proxy or if its header has no usable address.
[[nodiscard]] std::string forwarded_address(std::string_view peer, std::string_view forwarded_for,
                                            std::span<const std::string> trusted);

// The host of "HOST", "HOST:PORT" or "[V6]:PORT", in lower case, without brackets, port and final
// dot. Empty if the text is not of this form.
[[nodiscard]] std::string host_of(std::string_view authority);

// True if the host is one of the names. "*.example.org" matches one additional label. "localhost"
// and every loopback address always match.
[[nodiscard]] bool is_accepted_host(std::string_view host, std::span<const std::string> names);

}  // namespace weft::net
