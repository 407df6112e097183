#include "apps/coordinator/http/line_addresses.h"

#include <algorithm>
#include <iterator>

#include "platform/net/address_ranges.h"

namespace weft::coordinator {

namespace {

constexpr std::string_view scheme = "tcp://";

bool is_fit(const net::Address& line, const net::Address& own) {
  if (line == own) return true;
  if (line.is_loopback()) return own.is_loopback();
  if (net::is_special(line)) return false;
  const auto network = net::private_network_of(line);
  return !network || own.is_loopback() || net::private_network_of(own) == network;
}

}  // namespace

std::vector<std::string> lines_to_pass_on(const std::vector<std::string>& lines,
                                          std::string_view comes_from, const LineRules& rules) {
  const auto own = net::Address::parse(comes_from);
  std::vector<std::string> fit;
  std::ranges::copy_if(lines, std::back_inserter(fit), [&](const std::string& line) {
    if (!rules.addresses_are_checked || !line.starts_with(scheme)) return true;
    const std::string_view rest = std::string_view(line).substr(scheme.size());
    const auto host = net::Address::parse(net::host_of(rest.substr(0, rest.find('#'))));
    return host && own && is_fit(*host, *own);
  });
  return fit;
}

}  // namespace weft::coordinator
