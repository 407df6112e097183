// Clients that watch the network over WebSockets (`/v1/watch`). While there are clients, the feed
// asks the core a few times a second, encodes each message once, and sends it to all clients that
// keep up. protocol/watch.h defines the messages.
//
// Threading: any; a timer thread asks the core. Lifetime: stop() before the loop stops; outlives
// the loop's thread. Bounds: watchers_max clients, and unseen_max unacknowledged messages for each.
// A slow client gets a new snapshot when it has caught up, so that nothing is queued for it here.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "apps/coordinator/ingest/loop.h"
#include "platform/net/server.h"

namespace weft::coordinator {

class WatchFeed {
 public:
  struct Options {
    Duration every = std::chrono::milliseconds(250);  // Least time between two messages.
    std::size_t watchers_max = 256;
    std::size_t watchers_per_address = 8;  // An IPv6 /64 is one address; 0: no bound.
  };
  explicit WatchFeed(Loop& loop) : WatchFeed(loop, Options()) {}
  WatchFeed(Loop& loop, Options options) : loop_(loop), options_(options) {}
  WatchFeed(const WatchFeed&) = delete;
  ~WatchFeed() { stop(); }

  // The WebSocket route to add to a net::Server.
  [[nodiscard]] net::SocketRoute route();
  void start();
  void stop();

 private:
  struct Watcher {
    std::shared_ptr<net::Peer> peer;
    std::string group;  // Address group of the client.
    bool wants_snapshot = true;
    std::uint64_t sent = 0;  // The last sequence number that was sent.
    std::uint32_t unseen = 0;
  };
  void open(const std::shared_ptr<net::Peer>& peer);
  void take(const std::shared_ptr<net::Peer>& peer, const std::string& text);
  void close(const std::shared_ptr<net::Peer>& peer);
  void run();
  void ask();
  void tell(const jobs::WatchUpdate& update);

  [[nodiscard]] bool has_room_for(const std::string& group) const;

  Loop& loop_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Watcher> watchers_;
  bool asking_ = false;  // A request to the core is not answered yet.
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
