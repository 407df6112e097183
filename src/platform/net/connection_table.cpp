#include "platform/net/connection_table.h"

#include <utility>

namespace weft::net {

ConnectionTable::ConnectionTable(const Limits& limits, std::size_t connections_max, IsOpen is_open)
    : per_address_(limits.connections_per_address),
      handshake_max_(limits.handshake_max),
      connections_max_(connections_max),
      is_open_(std::move(is_open)) {}

bool ConnectionTable::accept(const std::string& peer, const std::string& group,
                             const Socket& socket, bool bounded, Instant at) {
  if (const auto known = entries_.find(peer); known != entries_.end()) remove(known);
  const auto is_over = [](std::size_t count, std::size_t most) {
    return most > 0 && count >= most;
  };
  const auto count_of_group = [&] {
    const auto found = of_.find(group);
    return found == of_.end() ? 0 : found->second;
  };
  if (bounded && is_over(count_of_group(), per_address_)) {
    forget_closed(at);
    if (is_over(count_of_group(), per_address_)) return false;
  }
  if (is_over(entries_.size(), connections_max_)) {
    forget_closed(at);
    if (is_over(entries_.size(), connections_max_)) return false;
  }
  entries_.emplace(peer, Entry{.group = group, .socket = socket, .since = at});
  ++of_[group];
  return true;
}

void ConnectionTable::ready(const std::string& peer) {
  if (const auto found = entries_.find(peer); found != entries_.end())
    found->second.is_ready = true;
}

void ConnectionTable::gone(const std::string& peer) {
  if (const auto found = entries_.find(peer); found != entries_.end()) remove(found);
}

std::vector<ConnectionTable::Socket> ConnectionTable::overdue(Instant at) const {
  std::vector<Socket> out;
  if (handshake_max_ == Duration::zero()) return out;
  for (const auto& [peer, entry] : entries_) {
    if (!entry.is_ready && at - entry.since > handshake_max_) out.push_back(entry.socket);
  }
  return out;
}

void ConnectionTable::forget_closed(Instant at) {
  if (looked_ != Instant() && at - looked_ < std::chrono::seconds(1)) return;
  looked_ = at;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (!is_open_(entry->second.socket)) remove(entry);
    entry = next;
  }
}

void ConnectionTable::remove(std::map<std::string, Entry>::iterator entry) {
  const auto count = of_.find(entry->second.group);
  if (--count->second == 0) of_.erase(count);
  entries_.erase(entry);
}

}  // namespace weft::net
