// Meetings, in which tabs find each other before they have a direct link (`/v1/meet`). A host opens
// a meeting with an id that cannot be guessed, guests that know the id join it, and each guest
// exchanges a few short texts with the host. The two sides encrypt these texts; nothing is stored.
//
//   first message   {"meet": "32 hex digits", "as": "host" | "guest"}
//   its reply       {"iceServers": [...]}
//   host            {"guest": 7, "text": "..."}, both directions
//   guest           plain texts, both directions
//
// If the two find no direct connection, the host may begin a relay for the guest. From then on the
// two exchange binary messages, which are passed on unread (camera_relay.h has the bounds).
//
//   host            {"guest": 7, "relay": true | false}   begins or ends the relay
//   to the host     {"guest": 7, "gone": "a sentence"}    the relay has ended or was refused
//   guest           a byte (RelayMessage) and its content, both directions
//   host            the guest's number (u64), then the same, both directions
//
// Numbers are little-endian. A guest whose relay ends is closed with the sentence.
//
// Threading: any; start() makes a thread that grants credit. Lifetime: outlives the server's
// handlers; stop() before destruction. A meeting ends when its host's socket closes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/coordinator/http/camera_relay.h"
#include "common/base/clock.h"
#include "platform/net/server.h"

namespace weft::coordinator {

// The first byte of a binary message, and what follows it.
enum class RelayMessage : std::uint8_t {
  record = 0,  // The bytes of a record.
  // To the coordinator: the number of records that were taken (u32). From the coordinator: bytes
  // of credit (u32).
  count = 1,
};

class Meetings {
 public:
  // Bounds against abuse. Each one can be turned off with 0, in tests only.
  struct Bounds {
    std::size_t meetings_max = 1024;
    std::size_t sockets_per_address = 32;  // Hosts and guests; an IPv6 /64 is one address.
    std::size_t guests_max = 16;           // Guests of one meeting at a time.
    std::size_t text_bytes_max = std::size_t{12} << 10;
    std::size_t texts_max = 4;                      // Most texts of a guest in each direction.
    Duration guest_max = std::chrono::seconds(60);  // Age at which a guest may be replaced.
    Duration meeting_max = std::chrono::hours(12);  // Age at which a meeting may be replaced.
    // A new meeting may replace, at any age, the oldest meeting of the network with the most
    // meetings (IPv4: a /24, IPv6: a /48) if that network has at least two more than the new
    // host's.
    bool largest_network_yields = true;
  };
  struct Options {
    Bounds bounds{};
    // Returns the ICE servers as a JSON array.
    std::function<std::string()> ice_servers = [] { return std::string("[]"); };
    std::function<Instant()> clock = now;
    CameraRelay::Options relay{};
  };
  explicit Meetings(Options options) : options_(std::move(options)), relay_(options_.relay) {}
  Meetings(const Meetings&) = delete;
  ~Meetings() { stop(); }

  // The WebSocket route to add to a net::Server.
  [[nodiscard]] net::SocketRoute route();
  // Calls tick() regularly, on a thread of its own.
  void start();
  void stop();
  // Gives the relay's senders the credit that is due, and ends pairs that are idle or stuck.
  void tick();

 private:
  using PeerId = std::uint64_t;
  struct Meeting {
    PeerId host = 0;
    std::size_t texts_left = 0;  // Texts that the host may still send.
    std::vector<PeerId> guests{};
    std::vector<PeerId> relayed{};  // Guests with a relay, which are not among `guests`.
  };
  struct Member {
    std::shared_ptr<net::Peer> peer;
    std::string group;    // Group of the peer's address (address_group()).
    std::string network;  // Network of the address; the group for private addresses.
    std::string meeting;  // Id of the meeting; empty before the first message.
    bool is_host = false;
    std::size_t texts = 0;  // Texts that a guest has sent.
    Instant since{};
  };
  // An action on a peer that is carried out after the lock is released.
  struct Act {
    std::shared_ptr<net::Peer> peer;
    std::string text{};    // Sent unless it is empty.
    std::string binary{};  // Sent unless it is empty.
    std::string reason{};  // Closes the peer unless it is empty.
  };
  using Acts = std::vector<Act>;

  void open(const std::shared_ptr<net::Peer>& peer);
  void take(const std::shared_ptr<net::Peer>& peer, const std::string& text);
  void take_binary(const std::shared_ptr<net::Peer>& peer, std::string message);
  void close(const std::shared_ptr<net::Peer>& peer);
  // Called with the lock held, like the functions below.
  void join(Member& member, const std::string& text, Acts& acts);
  void begin(Member& member, const std::string& meeting, Acts& acts);
  // The host whose meeting is closed to make room for a new host of `network`; empty if no meeting
  // may be closed.
  [[nodiscard]] std::optional<PeerId> yielding(const std::string& network) const;
  void enter(Member& member, const std::string& meeting, Acts& acts);
  void from_host(Member& host, const std::string& text, Acts& acts);
  void from_guest(Member& guest, const std::string& text, Acts& acts);
  void begin_relay(const Member& host, Member& guest, Acts& acts);
  // Passes a message of the pair `id`, without the guest's number, to the other side.
  void pass_on(PeerId id, CameraRelay::Side sender, std::string message, Acts& acts);
  void grant_credit(Acts& acts);
  // Tells the host that the relay for a guest has ended or was refused.
  void tell_host(const Member& guest, std::string_view why, Acts& acts);
  // Removes a member. Its host hears `why` if the member is a guest with a relay.
  void remove(PeerId id, std::string_view why, Acts& acts);
  // Closes a member. A host takes all members of its meeting with it.
  void send_away(PeerId id, std::string reason, Acts& acts);
  void run(const std::stop_token& stop);
  [[nodiscard]] bool is_full(const Meeting& meeting) const;
  static void carry_out(Acts acts);

  const Options options_;
  std::mutex mutex_;
  std::map<PeerId, Member> members_;
  std::map<std::string, Meeting> meetings_;  // Meetings by their id.
  CameraRelay relay_;                        // Its pairs are guests, by their PeerId.
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace weft::coordinator
