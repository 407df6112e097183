// Counts connections by address from accept() on, knows which connections have not finished their
// handshake in time, and keeps a share of all places for known peers. A new connection is always
// unknown. An unknown connection may only borrow a kept place: if no place is left, the oldest
// borrower is closed for a new connection. If another address has more unknown connections than the
// address of the new connection, the oldest connection of that other address is closed instead. To
// keep newcomers out, an attacker therefore needs as many addresses as there are places. Pure
// except for one question: whether a descriptor is still the same socket.
//
// Threading: none of its own. Bounded by the number of connections that it accepts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "platform/net/limits.h"

namespace weft::net {

class ConnectionTable {
 public:
  // A socket: its descriptor and the kernel's number for it (SO_COOKIE), because descriptors are
  // reused.
  struct Socket {
    int descriptor = -1;
    std::uint64_t cookie = 0;
  };
  using IsOpen = std::function<bool(const Socket&)>;

  // `connections_max` bounds the connections of all addresses together.
  ConnectionTable(const Limits& limits, std::size_t connections_max, IsOpen is_open);

  struct Accepted {
    bool welcome = false;  // False: the connection is over a bound and is not counted.
    // The connection to close for the new one; it is no longer counted.
    std::optional<Socket> ended;
  };
  // Enters a connection of "ADDRESS:PORT". If the connection would exceed a bound, closed
  // connections are forgotten first. `bounded` is false for a trusted proxy, whose connections are
  // those of many clients, so that the bound of one address does not apply.
  [[nodiscard]] Accepted accept(const std::string& peer, const std::string& group,
                                const Socket& socket, bool bounded, Instant at);
  void ready(const std::string& peer);      // The handshake of the connection is done.
  void recognise(const std::string& peer);  // The peer becomes known and keeps its place.
  void gone(const std::string& peer);
  // The connections whose handshake takes too long.
  [[nodiscard]] std::vector<Socket> overdue(Instant at) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  enum class Place : std::uint8_t { own, borrowed, known };
  struct Entry {
    std::string group;
    Socket socket;
    Instant since;
    bool is_ready = false;
    Place place = Place::own;
    bool is_ranked = false;    // True for an unknown connection with `bounded`.
    std::uint64_t number = 0;  // Increases in the order of accept().
  };
  // Runs at most once a second, because under a flood each run costs as much as many connections.
  void forget_closed(Instant at);
  void remove(std::map<std::string, Entry>::iterator entry);
  void rank(const std::string& peer, Entry& entry);
  void unrank(Entry& entry);
  // The unknown connection that is closed for a new one of `group`: the oldest of the group with
  // the most connections, or of `group` itself if no other group has more than `group` would have.
  // end() if every group has one connection and `group` has none.
  [[nodiscard]] std::map<std::string, Entry>::iterator oldest_of_largest(const std::string& group);
  // Frees the entry's place. A place of an unknown connection goes to the oldest borrower.
  void give_up_place(const Entry& entry);

  const std::size_t per_address_;
  const Duration handshake_max_;
  const std::size_t connections_max_;
  const std::size_t unknown_max_;  // Places that are not kept for known peers.
  const IsOpen is_open_;
  const bool largest_gives_way_;
  std::map<std::string, Entry> entries_;   // Keyed by peer, "ADDRESS:PORT".
  std::map<std::string, std::size_t> of_;  // The number of connections by group.
  std::size_t unknown_ = 0;                // Unknown connections that do not borrow a place.
  // Peers that borrow a place, by the number of their entries.
  std::map<std::uint64_t, std::string> borrowers_;
  std::map<std::string, std::map<std::uint64_t, std::string>>
      ranked_;  // Ranked connections: group, number of the entry, peer.
  // The ranked groups, in the order of their number of connections.
  std::set<std::pair<std::size_t, std::string>> sizes_;
  std::uint64_t next_ = 0;
  Instant looked_{};  // The time of the last forget_closed().
};

}  // namespace weft::net
