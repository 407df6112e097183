// Counts connections by address from accept() on, knows which of them have not finished their
// handshake in time, and keeps a share of all places for known peers. Before they have said who
// they are, all connections are alike: in that share unknown ones only borrow, and the oldest goes
// when a new one comes and no place is left. Where one address has more unknown connections than
// the new one's, its oldest goes instead: to keep newcomers out takes as many addresses as there
// are places. Pure but for one question: whether a descriptor is still the same socket.
//
// Threading: none of its own. Bounded by the connections that it lets in.
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
  // A socket: its descriptor, and the kernel's number for it (SO_COOKIE), since descriptors are
  // given again.
  struct Socket {
    int descriptor = -1;
    std::uint64_t cookie = 0;
  };
  using IsOpen = std::function<bool(const Socket&)>;

  // `connections_max`: in all.
  ConnectionTable(const Limits& limits, std::size_t connections_max, IsOpen is_open);

  struct Accepted {
    bool welcome = false;  // Otherwise one too many, in all or of its group, and not counted.
    std::optional<Socket> ended;  // The connection that has to go for it; it counts no more.
  };
  // Enters a connection of "ADDRESS:PORT". If it would exceed a bound, connections that turn out to
  // be closed are forgotten first. `bounded`: false for a trusted proxy, which stands for many
  // clients, so that the bound of one address does not apply.
  [[nodiscard]] Accepted accept(const std::string& peer, const std::string& group,
                                const Socket& socket, bool bounded, Instant at);
  void ready(const std::string& peer);      // Its handshake is done.
  void recognise(const std::string& peer);  // It is known, and keeps its place.
  void gone(const std::string& peer);
  // Those without a handshake for too long.
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
    bool is_ranked = false;    // It is an unknown one of an address that has bounds.
    std::uint64_t number = 0;  // In the order in which they came.
  };
  // At most once a second: under a flood each look would cost as much as many connections.
  void forget_closed(Instant at);
  void remove(std::map<std::string, Entry>::iterator entry);
  void rank(const std::string& peer, Entry& entry);
  void unrank(Entry& entry);
  // The unknown connection that gives way to a new one of `group`: of the group with the most, of
  // this one if no other has more than it would; none if each has one and this one has none.
  [[nodiscard]] std::map<std::string, Entry>::iterator oldest_of_largest(const std::string& group);
  // The entry's place is another connection's: the oldest borrower's, if it was one of the unknown.
  void give_up_place(const Entry& entry);

  const std::size_t per_address_;
  const Duration handshake_max_;
  const std::size_t connections_max_;
  const std::size_t unknown_max_;  // Places that are not kept.
  const IsOpen is_open_;
  const bool largest_gives_way_;
  std::map<std::string, Entry> entries_;            // By the peer.
  std::map<std::string, std::size_t> of_;           // By group.
  std::size_t unknown_ = 0;                         // Unknown ones with places of their own.
  std::map<std::uint64_t, std::string> borrowers_;  // By number: the peer.
  std::map<std::string, std::map<std::uint64_t, std::string>>
      ranked_;  // Unknown ones by group and number: the peer.
  std::set<std::pair<std::size_t, std::string>> sizes_;  // How many of them a group has.
  std::uint64_t next_ = 0;
  Instant looked_{};  // At which of them are closed.
};

}  // namespace weft::net
