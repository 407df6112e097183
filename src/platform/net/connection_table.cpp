#include "platform/net/connection_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::net {

namespace {

std::size_t places_of_unknown(const Limits& limits, std::size_t all) {
  if (all == 0) return std::numeric_limits<std::size_t>::max();
  return all - static_cast<std::size_t>(static_cast<double>(all) * limits.known_share);
}

// The maximum number of connections of one address; 0 means no bound.
std::size_t places_of_address(const Limits& limits, std::size_t all) {
  const std::size_t most = limits.connections_per_address;
  if (all == 0 || most == 0 || limits.address_share == 0) return most;
  const auto share = static_cast<std::size_t>(static_cast<double>(all) * limits.address_share);
  return std::min(most, std::max(share, limits.address_least));
}

}  // namespace

ConnectionTable::ConnectionTable(const Limits& limits, std::size_t connections_max, IsOpen is_open)
    : per_address_(places_of_address(limits, connections_max)),
      handshake_max_(limits.handshake_max),
      connections_max_(connections_max),
      unknown_max_(places_of_unknown(limits, connections_max)),
      is_open_(std::move(is_open)),
      largest_gives_way_(limits.largest_gives_way) {}

ConnectionTable::Accepted ConnectionTable::accept(const std::string& peer, const std::string& group,
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
    if (is_over(count_of_group(), per_address_)) return {};
  }
  Accepted out{.welcome = true, .ended = std::nullopt};
  if (is_over(entries_.size(), connections_max_)) {
    forget_closed(at);
    if (is_over(entries_.size(), connections_max_)) {
      auto oldest = bounded ? oldest_of_largest(group) : entries_.end();
      if (oldest == entries_.end() && borrowers_.empty()) return {};
      if (oldest == entries_.end()) oldest = entries_.find(borrowers_.begin()->second);
      out.ended = oldest->second.socket;
      remove(oldest);
    }
  }
  Entry entry{.group = group, .socket = socket, .since = at, .number = next_++};
  if (unknown_ < unknown_max_) {
    ++unknown_;
  } else {
    entry.place = Place::borrowed;
    borrowers_.emplace(entry.number, peer);
  }
  const auto added = entries_.emplace(peer, std::move(entry)).first;
  if (bounded) rank(peer, added->second);
  ++of_[group];
  return out;
}

void ConnectionTable::recognise(const std::string& peer) {
  const auto found = entries_.find(peer);
  if (found == entries_.end() || found->second.place == Place::known) return;
  give_up_place(found->second);
  unrank(found->second);
  found->second.place = Place::known;
}

void ConnectionTable::rank(const std::string& peer, Entry& entry) {
  auto& of_group = ranked_[entry.group];
  sizes_.erase({of_group.size(), entry.group});
  of_group.emplace(entry.number, peer);
  sizes_.emplace(of_group.size(), entry.group);
  entry.is_ranked = true;
}

void ConnectionTable::unrank(Entry& entry) {
  if (!std::exchange(entry.is_ranked, false)) return;
  const auto of_group = ranked_.find(entry.group);
  sizes_.erase({of_group->second.size(), entry.group});
  of_group->second.erase(entry.number);
  if (of_group->second.empty()) {
    ranked_.erase(of_group);
  } else {
    sizes_.emplace(of_group->second.size(), entry.group);
  }
}

std::map<std::string, ConnectionTable::Entry>::iterator ConnectionTable::oldest_of_largest(
    const std::string& group) {
  if (!largest_gives_way_ || sizes_.empty()) return entries_.end();
  const auto own = ranked_.find(group);
  const std::size_t own_count = own == ranked_.end() ? 0 : own->second.size();
  const auto& [count, largest] = *sizes_.rbegin();
  if (count > own_count + 1) return entries_.find(ranked_.at(largest).begin()->second);
  return own_count > 0 ? entries_.find(own->second.begin()->second) : entries_.end();
}

void ConnectionTable::give_up_place(const Entry& entry) {
  if (entry.place == Place::borrowed) borrowers_.erase(entry.number);
  if (entry.place != Place::own) return;
  --unknown_;
  if (borrowers_.empty()) return;
  const auto oldest = borrowers_.extract(borrowers_.begin());
  entries_.at(oldest.mapped()).place = Place::own;
  ++unknown_;
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
  give_up_place(entry->second);
  unrank(entry->second);
  entries_.erase(entry);
}

}  // namespace weft::net
