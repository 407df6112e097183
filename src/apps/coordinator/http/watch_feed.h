// Clients that watch over WebSockets (`/v1/watch`): asks the core a few times a second while there
// is one, encodes each message once, and sends it to all who keep up. protocol/watch.h says what
// goes over the wire.
//
// Threading: any; a thread of its own keeps the time. Lifetime: stop() before the loop stops;
// outlives the loop's thread. Bounds: watchers_max, and unseen_max messages to each that have not
// been seen: one who lags gets a new snapshot when it has caught up, so nothing is queued for it
// here.
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
    Duration every = std::chrono::milliseconds(250);  // Between messages, at least.
    std::size_t watchers_max = 256;
    std::size_t watchers_per_address = 8;  // For IPv6 a /64; 0: no bound.
  };
  explicit WatchFeed(Loop& loop) : WatchFeed(loop, Options()) {}
  WatchFeed(Loop& loop, Options options) : loop_(loop), options_(options) {}
  WatchFeed(const WatchFeed&) = delete;
  ~WatchFeed() { stop(); }

  // The route for net::Server.
  [[nodiscard]] net::SocketRoute route();
  void start();
  void stop();

 private:
  struct Watcher {
    std::shared_ptr<net::Peer> peer;
    std::string group;  // The group of its address.
    bool wants_snapshot = true;
    std::uint64_t sent = 0;  // The last sequence, and how many messages of those are not seen.
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
  bool asking_ = false;  // The core has not answered yet.
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::coordinator
