#include "service/net/drogon_sockets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <trantor/net/TcpConnection.h>

#include "common/base/log.h"
#include "service/net/request_lengths.h"

namespace weft::net {

namespace {

// What a connection has received since its last whole message. Set while its bytes are being handled, on that thread.
struct Received {
  std::size_t since_message = 0;
  bool is_socket = false;
};
thread_local Received* receiving = nullptr;

struct Reach : trantor::TcpConnection {
  static auto receive_callback() { return &Reach::recvMsgCallback_; }
};

}  // namespace

namespace {

constexpr double refused_s_max = 2;  // For a peer to read why, and go.

// What there is to know of a connection between two deliveries of bytes.
struct Watched {
  Received received;
  std::unique_ptr<RequestLengths> lengths = std::make_unique<RequestLengths>();  // None once it is a socket: there may be 19,000 of them.
  std::size_t left = 0;                                                          // Of what was delivered, not handled yet.
  bool refused = false;
};

void refuse(const trantor::TcpConnectionPtr& connection, const std::string& answer) {
  connection->send(answer);
  connection->shutdown();
  connection->getLoop()->runAfter(refused_s_max, [weak = std::weak_ptr(connection)] {
    if (const auto still = weak.lock(); still && still->connected()) still->forceClose();
  });
}

}  // namespace

void guard(const trantor::TcpConnectionPtr& connection, const ConnectionRules& rules) {
  connection->setHighWaterMarkCallback(
      [](const trantor::TcpConnectionPtr& slow, std::size_t queued) {
        log_warning("{} does not read: {} bytes are queued for it, so its connection ends.", slow->peerAddr().toIpPort(), queued);
        slow->getLoop()->queueInLoop([slow] { slow->forceClose(); });
      },
      rules.send_bytes_max);
  auto handle = (*connection).*Reach::receive_callback();
  connection->setRecvMsgCallback([handle, receive_bytes_max = rules.receive_bytes_max, refusal = rules.refusal,
                                  watched = std::make_shared<Watched>()](const trantor::TcpConnectionPtr& from, trantor::MsgBuffer* buffer) {
    Watched& state = *watched;
    const std::size_t fresh = buffer->readableBytes() - std::min(state.left, buffer->readableBytes());
    if (!state.refused && state.lengths) {
      if (const auto problem = state.lengths->take({buffer->peek() + buffer->readableBytes() - fresh, fresh})) {
        state.refused = true;
        refuse(from, refusal(*problem));
      }
    }
    if (state.refused) return buffer->retrieveAll();
    state.received.since_message += fresh;
    receiving = &state.received;
    handle(from, buffer);
    receiving = nullptr;
    state.left = buffer->readableBytes();
    if (state.received.is_socket) state.lengths.reset();
    if (state.left > receive_bytes_max || (state.received.is_socket && state.received.since_message > receive_bytes_max)) {
      log_warning("{} sends a message without end: its connection ends.", from->peerAddr().toIpPort());
      from->getLoop()->queueInLoop([from] { from->forceClose(); });
    }
  });
}

class DrogonPeer final : public Peer {
 public:
  DrogonPeer(drogon::WebSocketConnectionPtr connection, const SocketRoute& endpoint, std::uint64_t id)
      : route(endpoint), connection_(connection), id_(id), address_(connection->peerAddr().toIp()) {}

  void send_text(std::string text) override {
    if (auto connection = connection_.lock()) connection->send(text, drogon::WebSocketMessageType::Text);
  }
  void send_binary(std::string bytes) override {
    if (auto connection = connection_.lock()) connection->send(bytes, drogon::WebSocketMessageType::Binary);
  }
  void close(std::string reason) override {
    constexpr std::size_t reason_bytes_max = 120;  // A control frame carries 125 bytes, two of them the code.
    reason.resize(std::min(reason.size(), reason_bytes_max));
    if (auto connection = connection_.lock()) connection->shutdown(drogon::CloseCode::kViolation, reason);
  }
  void force_close() {
    if (auto connection = connection_.lock()) connection->forceClose();
  }
  std::uint64_t id() const override { return id_; }
  const std::string& address() const override { return address_; }

  // One ping is under way at a time; the payload of its answer tells it from earlier ones.
  void ping(Instant at) {
    pinged_ = at;
    const std::string payload = std::to_string(++ping_number_);
    if (auto connection = connection_.lock()) connection->send(payload, drogon::WebSocketMessageType::Ping);
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
  std::atomic<Instant> pinged_ = Instant();
  std::atomic<std::uint64_t> ping_number_ = 0;
  std::atomic<Duration> round_trip_ = Duration(-1);
  std::weak_ptr<drogon::WebSocketConnection> connection_;  // The connection owns us, as its context.
  const std::uint64_t id_;
  const std::string address_;
};

void DrogonSockets::handleNewConnection(const drogon::HttpRequestPtr& request, const drogon::WebSocketConnectionPtr& connection) {
  if (receiving != nullptr) receiving->is_socket = true;
  const auto found = routes_.find(request->path());
  if (found == routes_.end()) return connection->forceClose();
  auto peer = std::make_shared<DrogonPeer>(connection, found->second, next_id_.fetch_add(1));
  connection->setContext(peer);
  peers_.with([&](auto& peers) { peers.emplace(peer->id(), peer); });
  peer->route.opened(peer);
  peer->ping(now());
}

void DrogonSockets::handleNewMessage(const drogon::WebSocketConnectionPtr& connection, std::string&& message,
                                     const drogon::WebSocketMessageType& type) {
  if (receiving != nullptr) {
    receiving->is_socket = true;
    receiving->since_message = 0;
  }
  const auto peer = connection->getContext<DrogonPeer>();
  if (!peer) return;
  peer->heard = now();
  if (type == drogon::WebSocketMessageType::Pong) return peer->answered(message, peer->heard);
  if (type != drogon::WebSocketMessageType::Text && type != drogon::WebSocketMessageType::Binary) return;
  if (message.size() > peer->route.message_bytes_max) return peer->route.oversized(peer, message.size());
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
    const auto count = std::min(peers.size(), static_cast<std::size_t>(std::ceil(share * static_cast<double>(peers.size()))));
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
  for (const auto& peer : due) peer->ping(at);
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
