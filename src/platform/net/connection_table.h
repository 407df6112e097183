// Counts connections by address from accept() on, and knows which of them have not finished their
// handshake in time. Pure but for one question: whether a descriptor is still the same socket.
//
// Threading: none of its own. Bounded by the connections that it lets in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
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

  // A connection of "ADDRESS:PORT" was accepted. False where it is one too many, in all or of its
  // group; it is not counted then. Connections that turn out to be closed are forgotten first.
  // `bounded` false: of a trusted proxy, which stands for many.
  [[nodiscard]] bool accept(const std::string& peer, const std::string& group, const Socket& socket,
                            bool bounded, Instant at);
  void ready(const std::string& peer);  // Its handshake is done.
  void gone(const std::string& peer);
  // Those without a handshake for too long.
  [[nodiscard]] std::vector<Socket> overdue(Instant at) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string group;
    Socket socket;
    Instant since;
    bool is_ready = false;
  };
  // At most once a second: under a flood each look would cost as much as many connections.
  void forget_closed(Instant at);
  void remove(std::map<std::string, Entry>::iterator entry);

  const std::size_t per_address_;
  const Duration handshake_max_;
  const std::size_t connections_max_;
  const IsOpen is_open_;
  std::map<std::string, Entry> entries_;   // By the peer.
  std::map<std::string, std::size_t> of_;  // By group.
  Instant looked_{};                       // At which of them are closed.
};

}  // namespace weft::net
