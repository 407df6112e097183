#include "platform/net/address.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>

namespace weft::net {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_v4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t group_bytes = 8;  // 8 bytes are a /64.

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  const std::string name(text);
  Address out;
  if (inet_pton(AF_INET, name.c_str(), out.bytes.data()) == 1) {
    out.is_v4 = true;
    return out;
  }
  std::array<std::uint8_t, 16> v6{};
  if (inet_pton(AF_INET6, name.c_str(), v6.data()) != 1) return std::nullopt;
  if (std::equal(mapped_v4.begin(), mapped_v4.end(), v6.begin())) {
    out.is_v4 = true;
    std::copy(v6.begin() + mapped_v4.size(), v6.end(), out.bytes.begin());
  } else {
    out.bytes = v6;
  }
  return out;
}

bool Address::is_loopback() const {
  if (is_v4) return bytes[0] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; }) &&
         bytes.back() == 1;
}

std::string address_group(std::string_view address) {
  const auto parsed = Address::parse(address);
  if (!parsed) return std::string(address);
  std::array<std::uint8_t, 16> bytes = parsed->bytes;
  char text[INET6_ADDRSTRLEN] = {};
  if (parsed->is_v4) return inet_ntop(AF_INET, bytes.data(), text, sizeof text);
  std::fill(bytes.begin() + group_bytes, bytes.end(), std::uint8_t{0});
  return std::string(inet_ntop(AF_INET6, bytes.data(), text, sizeof text)) + "/64";
}

bool Address::is_private() const {
  if (is_v4)
    return bytes[0] == 10 || (bytes[0] == 172 && (bytes[1] & 0xf0) == 16) ||
           (bytes[0] == 192 && bytes[1] == 168) || (bytes[0] == 169 && bytes[1] == 254) ||
           // The range 100.64.0.0/10, which carriers' NATs use.
           (bytes[0] == 100 && (bytes[1] & 0xc0) == 64);
  return (bytes[0] & 0xfe) == 0xfc || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80);
}

std::string address_prefix(std::string_view address) {
  const auto parsed = Address::parse(address);
  if (!parsed || parsed->is_loopback() || parsed->is_private()) return {};
  std::array<std::uint8_t, 16> bytes = parsed->bytes;
  const std::size_t kept = parsed->is_v4 ? 3 : 6;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(kept), bytes.end(), std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = {};
  return std::string(
             inet_ntop(parsed->is_v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text)) +
         (parsed->is_v4 ? "/24" : "/48");
}

std::string forwarded_address(std::string_view peer, std::string_view forwarded_for,
                              std::span<const std::string> trusted) {
  const auto is_trusted = [&](const std::optional<Address>& address) {
    return address && std::ranges::any_of(trusted, [&](const std::string& one) {
             return Address::parse(one) == address;
           });
  };
  if (!is_trusted(Address::parse(peer))) return std::string(peer);
  // The search goes from right to left: each proxy appends an address, so the party that sent a
  // request to a proxy wrote the entries to the left of that address.
  while (!forwarded_for.empty()) {
    const auto comma = forwarded_for.rfind(',');
    const auto last = without_spaces(
        comma == std::string_view::npos ? forwarded_for : forwarded_for.substr(comma + 1));
    const auto address = Address::parse(last);
    if (!address) break;
    if (!is_trusted(address)) return std::string(last);
    if (comma == std::string_view::npos) break;
    forwarded_for = forwarded_for.substr(0, comma);
  }
  return std::string(peer);
}

namespace {

// True if all characters are letters, digits or in `others`: a host with any other character would
// end at that character for some readers of the URL.
bool is_host(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.contains(c);
  });
}
// True for ":7300", ":" or an empty text.
bool is_port(std::string_view text) {
  constexpr std::size_t digits_max = 5;
  if (text.empty()) return true;
  return text.front() == ':' && text.size() - 1 <= digits_max &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

std::string host_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos || !is_port(authority.substr(end + 1))) return {};
    const std::string_view host = authority.substr(1, end - 1);
    return is_host(host, ":.%-_") ? lower_case(host) : std::string();
  }
  std::string_view host = authority.substr(0, authority.find(':'));
  if (!is_port(authority.substr(host.size()))) return {};
  if (host.ends_with('.')) host.remove_suffix(1);
  return is_host(host, "*.-_") ? lower_case(host) : std::string();
}

bool is_accepted_host(std::string_view host, std::span<const std::string> names) {
  if (host.empty()) return false;
  const auto address = Address::parse(host);
  if (host == "localhost" || (address && address->is_loopback())) return true;
  return std::ranges::any_of(names, [&](const std::string& name) {
    if (address) return Address::parse(name) == address;
    const std::string known = host_of(name);
    if (!known.starts_with("*.")) return known == host;
    const auto dot = host.find('.');
    return dot != std::string_view::npos && dot > 0 &&
           host.substr(dot) == std::string_view(known).substr(1);
  });
}

}  // namespace weft::net
