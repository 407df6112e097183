// Where tabs find each other before they have a line of their own (`/v1/meet`): a host opens a
// meeting under an unguessable id, guests that know the id join it, and a few short texts go
// between a guest and the host. What they say is sealed between them; nothing is stored.
//
//   first message   {"meet": "32 hex digits", "as": "host" | "guest"}
//   its answer      {"iceServers": [...]}
//   host            {"guest": 7, "text": "..."}, both ways
//   guest           its texts as they are, both ways
//
// Threading: any. Lifetime: outlives the server's handlers. A meeting ends with its host's socket.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "platform/net/server.h"

namespace weft::coordinator {

class Meetings {
 public:
  // Each is one defence; 0 turns it off, in tests only.
  struct Bounds {
    std::size_t meetings_max = 1024;
    std::size_t sockets_per_address = 32;  // Hosts and guests; for IPv6 a /64.
    std::size_t guests_max = 16;           // One meeting has so many at a time.
    std::size_t text_bytes_max = std::size_t{12} << 10;
    std::size_t texts_max = 4;                      // A guest says so many, and hears so many.
    Duration guest_max = std::chrono::seconds(60);  // Older ones give their place to new ones,
    Duration meeting_max = std::chrono::hours(12);  // and so do older meetings,
    // and, at any age, the oldest meeting of the network (IPv4: a /24, IPv6: a /48) that has the
    // most, if that is at least two more than the newcomer's network has.
    bool largest_network_yields = true;
  };
  struct Options {
    Bounds bounds{};
    std::function<std::string()> ice_servers = [] { return std::string("[]"); };  // JSON.
    std::function<Instant()> clock = now;
  };
  explicit Meetings(Options options) : options_(std::move(options)) {}

  // The route for net::Server.
  [[nodiscard]] net::SocketRoute route();

 private:
  using PeerId = std::uint64_t;
  struct Meeting {
    PeerId host = 0;
    std::size_t texts_left = 0;  // That the host may still send.
    std::vector<PeerId> guests{};
  };
  struct Member {
    std::shared_ptr<net::Peer> peer;
    std::string group;    // Its address's.
    std::string network;  // Its address's; in private ranges the group, as these are no strangers.
    std::string meeting;  // Empty until it has said which.
    bool is_host = false;
    std::size_t texts = 0;  // What a guest has said.
    Instant since{};
  };
  // What is to be done with peers once the lock is free.
  struct Act {
    std::shared_ptr<net::Peer> peer;
    std::string text{};    // To be sent, if it is not empty.
    std::string reason{};  // To be closed with, if it is not empty.
  };
  using Acts = std::vector<Act>;

  void open(const std::shared_ptr<net::Peer>& peer);
  void take(const std::shared_ptr<net::Peer>& peer, const std::string& text);
  void close(const std::shared_ptr<net::Peer>& peer);
  // With the lock held.
  void join(Member& member, const std::string& text, Acts& acts);
  void begin(Member& member, const std::string& meeting, Acts& acts);
  // The host whose meeting gives its place to one of this network.
  [[nodiscard]] std::optional<PeerId> yielding(const std::string& network) const;
  void enter(Member& member, const std::string& meeting, Acts& acts);
  void from_host(Member& host, const std::string& text, Acts& acts);
  void from_guest(Member& guest, const std::string& text, Acts& acts);
  void remove(PeerId id, Acts& acts);
  // Closes a member, and with a host all of its meeting.
  void send_away(PeerId id, std::string reason, Acts& acts);
  [[nodiscard]] bool is_full(const Meeting& meeting) const;
  static void carry_out(Acts acts);

  const Options options_;
  std::mutex mutex_;
  std::map<PeerId, Member> members_;
  std::map<std::string, Meeting> meetings_;  // By their ids.
};

}  // namespace weft::coordinator
