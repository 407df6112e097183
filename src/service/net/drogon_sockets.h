// The WebSocket half of the server. Private to this folder (it includes Drogon).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include <drogon/WebSocketController.h>

#include "common/base/guarded.h"
#include "service/net/server.h"

namespace weft::net {

class DrogonPeer;

// Hands what happens on sockets to the endpoints that were registered, pings, and ends those that fall silent.
class DrogonSockets : public drogon::WebSocketController<DrogonSockets, false> {
 public:
  static void initPathRouting() {}  // Paths are registered by the server, by name.
  explicit DrogonSockets(Duration ping_every) : ping_every_(ping_every) {}

  void add(SocketRoute route) {
    std::string path = route.path;
    routes_.emplace(std::move(path), std::move(route));
  }
  [[nodiscard]] const std::map<std::string, SocketRoute>& routes() const { return routes_; }
  // Called now and then, by one thread: of the next `share` in (0, 1] of the peers, pings those whose time it is, and closes those that
  // have not been heard for three pings. All of them at once would hold up everybody else's messages where there are thousands.
  void keep_alive(Instant at, double share);
  void close_all();

  void handleNewMessage(const drogon::WebSocketConnectionPtr& connection, std::string&& message, const drogon::WebSocketMessageType& type) override;
  void handleNewConnection(const drogon::HttpRequestPtr& request, const drogon::WebSocketConnectionPtr& connection) override;
  void handleConnectionClosed(const drogon::WebSocketConnectionPtr& connection) override;

 private:
  const Duration ping_every_;
  std::map<std::string, SocketRoute> routes_;  // Not changed once the server runs.
  std::atomic<std::uint64_t> next_id_ = 1;
  std::uint64_t looked_after_ = 0;  // The last one that keep_alive() came to.
  Guarded<std::map<std::uint64_t, std::weak_ptr<DrogonPeer>>> peers_;
};

// Bounds what one connection may make us hold: bytes queued for a peer that does not read, and bytes received that make up
// no whole message. (Drogon bounds masked single frames only: fragments and unmasked frames would grow without end.)
void bound_memory(const trantor::TcpConnectionPtr& connection, std::size_t send_bytes_max, std::size_t receive_bytes_max);

}  // namespace weft::net
