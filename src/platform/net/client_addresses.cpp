#include "platform/net/client_addresses.h"

#include <algorithm>

#include "platform/net/address.h"

namespace weft::net {

bool ClientAddresses::take(std::string_view client, std::string_view address, Instant at) {
  if (options_.per_client == 0) return true;
  const auto is_over = [at](const One& one) { return one.until <= at; };
  auto found = of_.find(std::string(client));
  if (found == of_.end()) {
    if (of_.size() >= options_.clients_max)
      std::erase_if(of_,
                    [&](const auto& entry) { return std::ranges::all_of(entry.second, is_over); });
    if (of_.size() >= options_.clients_max) return false;
    found = of_.try_emplace(std::string(client)).first;
  }
  std::string group = address_group(address);
  std::vector<One>& own = found->second;
  const Instant until = at + options_.kept_for;
  if (const auto known = std::ranges::find(own, group, &One::group); known != own.end()) {
    known->until = until;
    return true;
  }
  std::erase_if(own, is_over);
  if (own.size() >= options_.per_client) return false;
  own.push_back({.group = std::move(group), .until = until});
  return true;
}

}  // namespace weft::net
