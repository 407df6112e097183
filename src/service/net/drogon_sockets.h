// The WebSocket half of the server. Private to this folder (it includes Drogon).
#pragma once

#include <atomic>
#include <functional>
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

struct ConnectionRules {
  std::size_t send_bytes_max = 0;     // Queued for a peer that does not read.
  std::size_t receive_bytes_max = 0;  // That make up no whole message.
  // The whole answer to a request that is refused before Drogon sees it, and the connection with it.
  std::function<std::string(const std::string& sentence)> refusal;
};
// Bounds what one connection may make us hold (Drogon bounds masked single frames only: fragments and unmasked frames would grow without
// end), and refuses requests of which nobody knows how long they are (request_lengths.h).
void guard(const trantor::TcpConnectionPtr& connection, const ConnectionRules& rules);

}  // namespace weft::net
