#include "platform/net/drogon_sockets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <trantor/net/TcpConnection.h>

#include "common/base/log.h"
#include "platform/net/drogon_guard.h"

namespace weft::net {

class DrogonPeer final : public Peer {
 public:
  DrogonPeer(const drogon::WebSocketConnectionPtr& connection, const SocketRoute& endpoint,
             std::uint64_t id, std::string address, std::string host,
             std::shared_ptr<Watched> watched, DrogonSockets::Recognise recognise)
      : route(endpoint),
        watched_(std::move(watched)),
        recognise_(std::move(recognise)),
        connection_(connection),
        id_(id),
        address_(std::move(address)),
        host_(std::move(host)) {}
  ~DrogonPeer() override {
    if (greeting_ && !admitted_) greeting_->with([&](auto& peers) { peers.erase(id_); });
  }
  // Counts the peer among those that have not greeted yet, until admit().
  static void greet(const std::shared_ptr<DrogonPeer>& peer,
                    std::shared_ptr<DrogonSockets::Greeting> greeting) {
    peer->greeting_ = std::move(greeting);
    peer->greeting_->with([&](auto& peers) { peers.emplace(peer->id_, peer); });
  }

  void send_text(std::string text) override {
    if (auto connection = connection_.lock())
      connection->send(text, drogon::WebSocketMessageType::Text);
  }
  void send_binary(std::string bytes) override {
    if (auto connection = connection_.lock())
      connection->send(bytes, drogon::WebSocketMessageType::Binary);
  }
  void close(std::string reason) override {
    constexpr std::size_t reason_bytes_max =
        120;  // A control frame carries 125 bytes; the code takes two.
    reason.resize(std::min(reason.size(), reason_bytes_max));
    if (auto connection = connection_.lock())
      connection->shutdown(drogon::CloseCode::kViolation, reason);
  }
  void admit() override {
    if (!greeting_ || admitted_.exchange(true)) return;
    if (watched_) watched_->admit();
    greeting_->with([&](auto& peers) { peers.erase(id_); });
  }
  void recognise() override {
    const auto connection = connection_.lock();
    if (!connection) return;
    recognised_ = true;
    recognise_(connection->peerAddr().toIpPort(), address_);
  }
  // The address of a recognised peer stays known as long as the peer is connected.
  void recognise_again() {
    if (recognised_) recognise();
  }
  [[nodiscard]] std::size_t message_bytes_max(const Limits& limits) const {
    const bool is_bounded = greeting_ && !admitted_ && limits.greeting_bytes_max > 0;
    return is_bounded ? std::min(limits.greeting_bytes_max, route.message_bytes_max)
                      : route.message_bytes_max;
  }
  void force_close() {
    if (auto connection = connection_.lock()) connection->forceClose();
  }
  std::uint64_t id() const override { return id_; }
  const std::string& address() const override { return address_; }
  const std::string& host() const override { return host_; }

  // Sends a ping. One ping is pending at a time; its payload distinguishes its answer from older
  // ones.
  void ping(Instant at) {
    pinged_ = at;
    const std::string payload = std::to_string(++ping_number_);
    if (auto connection = connection_.lock())
      connection->send(payload, drogon::WebSocketMessageType::Ping);
  }
  void answered(std::string_view payload, Instant at) {
    if (payload == std::to_string(ping_number_.load())) round_trip_ = at - pinged_.load();
  }
  std::optional<Duration> round_trip() const override {
    const Duration known = round_trip_;
    return known < Duration::zero() ? std::nullopt : std::optional(known);
  }
  [[nodiscard]] Instant pinged() const { return pinged_; }

  const SocketRoute& route;
  std::atomic<Instant> heard = now();

 private:
  const std::shared_ptr<Watched> watched_;
  const DrogonSockets::Recognise recognise_;
  std::shared_ptr<DrogonSockets::Greeting> greeting_;  // Null if the route has no greeting.
  std::atomic<bool> admitted_ = false;
  std::atomic<bool> recognised_ = false;
  std::atomic<Instant> pinged_ = Instant();
  std::atomic<std::uint64_t> ping_number_ = 0;
  std::atomic<Duration> round_trip_ = Duration(-1);
  std::weak_ptr<drogon::WebSocketConnection>
      connection_;  // The connection owns this peer, as its context.
  const std::uint64_t id_;
  const std::string address_;
  const std::string host_;
};

void DrogonSockets::make_room_to_greet() {
  if (limits_.greeting_sockets_max == 0) return;
  // The peer is closed outside of the lock, because its destructor takes the lock.
  const auto oldest = greeting_->with([&](auto& peers) {
    std::shared_ptr<DrogonPeer> found;
    while (!found && peers.size() >= limits_.greeting_sockets_max)
      found = peers.extract(peers.begin()).mapped().lock();
    return found;
  });
  if (oldest) oldest->force_close();
}

void DrogonSockets::handleNewConnection(const drogon::HttpRequestPtr& request,
                                        const drogon::WebSocketConnectionPtr& connection) {
  const std::shared_ptr<Watched> watched = Watched::current();
  const auto found = routes_.find(request->path());
  if (found == routes_.end()) return connection->forceClose();
  const SocketRoute& route = found->second;
  if (route.greets) make_room_to_greet();
  auto peer = std::make_shared<DrogonPeer>(
      connection, route, next_id_.fetch_add(1),
      address_of_(connection->peerAddr().toIp(), request->getHeader("x-forwarded-for")),
      request->getHeader("host"), watched, recognise_);
  if (route.greets) DrogonPeer::greet(peer, greeting_);
  if (watched) watched->became_socket(route.greets, limits_, now());
  connection->setContext(peer);
  peers_.with([&](auto& peers) { peers.emplace(peer->id(), peer); });
  peer->route.opened(peer);
  peer->ping(now());
}

void DrogonSockets::handleNewMessage(const drogon::WebSocketConnectionPtr& connection,
                                     std::string&& message,
                                     const drogon::WebSocketMessageType& type) {
  if (const auto watched = Watched::current()) watched->had_message();
  const auto peer = connection->getContext<DrogonPeer>();
  if (!peer) return;
  peer->heard = now();
  if (type == drogon::WebSocketMessageType::Pong) return peer->answered(message, peer->heard);
  if (type != drogon::WebSocketMessageType::Text && type != drogon::WebSocketMessageType::Binary)
    return;
  if (message.size() > peer->message_bytes_max(limits_))
    return peer->route.oversized(peer, message.size());
  if (type == drogon::WebSocketMessageType::Text) {
    peer->route.text(peer, std::move(message));
  } else {
    peer->route.binary(peer, std::move(message));
  }
}

void DrogonSockets::handleConnectionClosed(const drogon::WebSocketConnectionPtr& connection) {
  const auto peer = connection->getContext<DrogonPeer>();
  if (!peer) return;
  const bool known = peers_.with([&](auto& peers) { return peers.erase(peer->id()) == 1; });
  if (known) peer->route.closed(peer);
}

void DrogonSockets::keep_alive(Instant at, double share) {
  std::vector<std::shared_ptr<DrogonPeer>> silent;
  std::vector<std::shared_ptr<DrogonPeer>> due;
  peers_.with([&](auto& peers) {
    const auto count =
        std::min(peers.size(),
                 static_cast<std::size_t>(std::ceil(share * static_cast<double>(peers.size()))));
    auto next = peers.upper_bound(looked_after_);
    for (std::size_t i = 0; i < count; ++i, ++next) {
      if (next == peers.end()) next = peers.begin();
      looked_after_ = next->first;
      auto peer = next->second.lock();
      if (!peer) continue;
      if (at - peer->heard.load() > 3 * ping_every_) {
        silent.push_back(std::move(peer));
      } else if (at - peer->pinged() > ping_every_ * 3 / 4) {
        due.push_back(std::move(peer));
      }
    }
  });
  for (const auto& peer : due) {
    peer->ping(at);
    peer->recognise_again();
  }
  for (const auto& peer : silent) peer->force_close();
}

void DrogonSockets::close_all() {
  std::vector<std::shared_ptr<DrogonPeer>> all;
  peers_.with([&](auto& peers) {
    for (const auto& [id, weak] : peers) {
      if (auto peer = weak.lock()) all.push_back(std::move(peer));
    }
  });
  for (const auto& peer : all) peer->close("the coordinator stops");
}

}  // namespace weft::net
