// The WebSocket part of the server. Private to this folder (it includes Drogon).
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

// Passes the events of WebSockets to the registered endpoints, pings the peers, and closes the
// sockets of peers that fall silent.
class DrogonSockets : public drogon::WebSocketController<DrogonSockets, false> {
 public:
  static void initPathRouting() {}  // The server registers the paths by name.
  // Returns the client's address from the peer's address and its X-Forwarded-For header.
  using AddressOf = std::function<std::string(const std::string& peer, const std::string& header)>;
  // Called when a peer ("ADDRESS:PORT") becomes known; `address` is the address of its client.
  using Recognise = std::function<void(const std::string& peer, const std::string& address)>;
  // The sockets that have not been admitted, by number.
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
  // Pings the peers whose ping is due and closes those that have sent nothing for three pings.
  // Called regularly, by one thread; each call looks at the next `share`, in (0, 1], of the peers,
  // because a look at thousands of peers at once would delay the messages of all others.
  void keep_alive(Instant at, double share);
  void close_all();

  void handleNewMessage(const drogon::WebSocketConnectionPtr& connection, std::string&& message,
                        const drogon::WebSocketMessageType& type) override;
  void handleNewConnection(const drogon::HttpRequestPtr& request,
                           const drogon::WebSocketConnectionPtr& connection) override;
  void handleConnectionClosed(const drogon::WebSocketConnectionPtr& connection) override;

 private:
  // Closes the oldest socket that has not greeted if their number is at its bound, so that a socket
  // that greets at once is served however many others are silent.
  void make_room_to_greet();

  const Duration ping_every_;
  const Limits limits_;
  const AddressOf address_of_;
  const Recognise recognise_;
  // The peers share this object.
  const std::shared_ptr<Greeting> greeting_ = std::make_shared<Greeting>();
  std::map<std::string, SocketRoute> routes_;  // The routes do not change once the server runs.
  std::atomic<std::uint64_t> next_id_ = 1;
  std::uint64_t looked_after_ = 0;  // Number of the last peer that keep_alive() looked at.
  Guarded<std::map<std::uint64_t, std::weak_ptr<DrogonPeer>>> peers_;
};

}  // namespace weft::net
