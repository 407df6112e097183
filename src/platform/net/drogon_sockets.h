// The WebSocket half of the server. Private to this folder (it includes Drogon).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <drogon/WebSocketController.h>

#include "common/base/guarded.h"
#include "platform/net/limits.h"
#include "platform/net/server.h"

namespace weft::net {

class DrogonPeer;

// Hands what happens on sockets to the endpoints that were registered, pings, and ends those that
// fall silent.
class DrogonSockets : public drogon::WebSocketController<DrogonSockets, false> {
 public:
  static void initPathRouting() {}  // Paths are registered by the server, by name.
  // The client's address, from the peer's and its X-Forwarded-For.
  using AddressOf = std::function<std::string(const std::string& peer, const std::string& header)>;
  // The connection of "ADDRESS:PORT" is a known one's, whose client has the address.
  using Recognise = std::function<void(const std::string& peer, const std::string& address)>;
  // Sockets that have not been admitted, by number.
  using Greeting = Guarded<std::map<std::uint64_t, std::weak_ptr<DrogonPeer>>>;
  DrogonSockets(Duration ping_every, const Limits& limits, AddressOf address_of,
                Recognise recognise)
      : ping_every_(ping_every),
        limits_(limits),
        address_of_(std::move(address_of)),
        recognise_(std::move(recognise)) {}

  void add(SocketRoute route) {
    std::string path = route.path;
    routes_.emplace(std::move(path), std::move(route));
  }
  [[nodiscard]] const std::map<std::string, SocketRoute>& routes() const { return routes_; }
  // Called now and then, by one thread: among the next `share` in (0, 1] of the peers, pings those
  // whose time it is, and closes those that have sent nothing for three pings. All of them at
  // once would hold up the messages of all other peers where there are thousands.
  void keep_alive(Instant at, double share);
  void close_all();

  void handleNewMessage(const drogon::WebSocketConnectionPtr& connection, std::string&& message,
                        const drogon::WebSocketMessageType& type) override;
  void handleNewConnection(const drogon::HttpRequestPtr& request,
                           const drogon::WebSocketConnectionPtr& connection) override;
  void handleConnectionClosed(const drogon::WebSocketConnectionPtr& connection) override;

 private:
  // Where as many as may are about to greet, the oldest goes: a socket that greets at once has its
  // turn, however many others are silent.
  void make_room_to_greet();

  const Duration ping_every_;
  const Limits limits_;
  const AddressOf address_of_;
  const Recognise recognise_;
  const std::shared_ptr<Greeting> greeting_ = std::make_shared<Greeting>();  // Shared with them.
  std::map<std::string, SocketRoute> routes_;  // Not changed once the server runs.
  std::atomic<std::uint64_t> next_id_ = 1;
  std::uint64_t looked_after_ = 0;  // The last one that keep_alive() came to.
  Guarded<std::map<std::uint64_t, std::weak_ptr<DrogonPeer>>> peers_;
};

}  // namespace weft::net
