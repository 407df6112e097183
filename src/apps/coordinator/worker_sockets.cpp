#include "apps/coordinator/worker_sockets.h"

#include <utility>

#include "common/protocol/digests.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {

class PeerConnection final : public WorkerConnection {
 public:
  explicit PeerConnection(std::shared_ptr<net::Peer> peer) : peer_(std::move(peer)) {}
  void send_text(std::string text) override { peer_->send_text(std::move(text)); }
  void close(std::string reason) override { peer_->close(std::move(reason)); }
  void admit() override { peer_->admit(); }
  void recognise() override { peer_->recognise(); }
  std::optional<Duration> round_trip() const override { return peer_->round_trip(); }

 private:
  const std::shared_ptr<net::Peer> peer_;
};

}  // namespace

net::SocketRoute WorkerSockets::route() {
  const auto session_of = [this](const std::shared_ptr<net::Peer>& peer) {
    return find(jobs::SessionId(peer->id()));
  };
  return {.path = "/v1/worker",
          .greets = true,
          .message_bytes_max = protocol::frame_bytes_max,
          .opened = [this](std::shared_ptr<net::Peer> peer) { open(std::move(peer)); },
          .text =
              [session_of](const std::shared_ptr<net::Peer>& peer, std::string text) {
                if (const auto session = session_of(peer)) session->on_text(std::move(text));
              },
          .binary =
              [session_of](const std::shared_ptr<net::Peer>& peer, std::string bytes) {
                if (const auto session = session_of(peer)) session->on_binary(std::move(bytes));
              },
          .oversized =
              [session_of](const std::shared_ptr<net::Peer>& peer, std::size_t bytes) {
                if (const auto session = session_of(peer)) session->on_oversized(bytes);
              },
          .closed =
              [this](const std::shared_ptr<net::Peer>& peer) {
                const auto session = sessions_.with([&](auto& sessions) {
                  auto node = sessions.extract(jobs::SessionId(peer->id()));
                  return node.empty() ? nullptr : node.mapped();
                });
                if (session) session->on_closed();
              },
          .cost = 1};
}

void WorkerSockets::open(std::shared_ptr<net::Peer> peer) {
  const jobs::SessionId id(peer->id());
  const bool here = net::is_loopback(peer->address());
  const std::string prefix = net::address_prefix(peer->address());
  auto session = std::make_shared<Session>(Session::Parts{
      .id = id,
      .coordinator = parts_.identity.public_key(),
      .sign = [&identity = parts_.identity](ByteSpan digest) { return identity.sign_now(digest); },
      .host = protocol::canonical_host(peer->host()),
      .book = parts_.book,
      .intake = parts_.intake,
      .connection = std::make_shared<PeerConnection>(std::move(peer)),
      .secret = parts_.secret,
      .core = [&loop = parts_.loop](Loop::Event event) { return loop.post(std::move(event)); },
      .work = [this, id](std::function<void()> work) { return parts_.work(id, std::move(work)); },
      .invite_file = here ? parts_.invite_file : std::string(),
      .genesis = parts_.genesis,
      .program = parts_.program,
      .earlier = parts_.earlier,
      .prefix = prefix});
  sessions_.with([&](auto& sessions) { sessions.emplace(id, std::move(session)); });
}

std::shared_ptr<Session> WorkerSockets::find(jobs::SessionId id) const {
  return sessions_.with([&](const auto& sessions) {
    const auto found = sessions.find(id);
    return found == sessions.end() ? nullptr : found->second;
  });
}

void WorkerSockets::send(jobs::SessionId id, const protocol::CoordinatorMessage& message) const {
  if (const auto session = find(id)) session->send(message);
}

void WorkerSockets::close(jobs::SessionId id, const protocol::ErrorMessage& why) const {
  if (const auto session = find(id)) session->end(why);
}

std::optional<Duration> WorkerSockets::round_trip(jobs::SessionId id) const {
  const auto session = find(id);
  return session ? session->round_trip() : std::nullopt;
}

}  // namespace weft::coordinator
