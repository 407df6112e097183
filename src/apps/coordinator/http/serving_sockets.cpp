#include "apps/coordinator/http/serving_sockets.h"

#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "apps/coordinator/http/line_addresses.h"
#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::coordinator {

namespace wire = protocol::serving;

net::SocketRoute ServingSockets::route() {
  return {.path = "/v1/serve",
          .greets = true,
          .message_bytes_max = protocol::frame_bytes_max,
          .opened =
              [this](const std::shared_ptr<net::Peer>& peer) {
                const bool queued = thread_.post(
                    [this, peer](inference::Desk&, Instant) { peers_[peer->id()] = peer; });
                if (!queued) peer->close("busy");
              },
          .text = [this](const std::shared_ptr<net::Peer>& peer,
                         const std::string& text) { on_text(peer, text); },
          .binary = [this](const std::shared_ptr<net::Peer>& peer,
                           const std::string& bytes) { on_binary(peer, bytes); },
          .oversized =
              [](const std::shared_ptr<net::Peer>& peer, std::size_t bytes) {
                peer->close(weft::format(
                    "The message has {} bytes, more than the coordinator reads.", bytes));
              },
          .closed = [this](const std::shared_ptr<net::Peer>& peer) { on_closed(peer->id()); },
          .cost = 1};
}

void ServingSockets::on_text(const std::shared_ptr<net::Peer>& peer, const std::string& text) {
  auto message = wire::decode_worker(text);
  if (!message) {
    log_info("A serving worker sent a message that cannot be read: {}", message.error().message);
    return peer->close(message.error().message);
  }
  auto* offer = std::get_if<wire::Offer>(&*message);
  if (offer != nullptr) offer->lines = lines_to_pass_on(offer->lines, peer->address());
  const auto key = offer == nullptr ? std::nullopt : book_.worker_of(offer->token);
  const bool queued = thread_.post([this, id = peer->id(), key, message = std::move(*message)](
                                       inference::Desk& desk, Instant time) {
    const auto* what = std::get_if<wire::Offer>(&message);
    what == nullptr ? hear(id, message, desk, time) : join(id, key, *what, desk, time);
  });
  if (!queued) peer->close(busy_error().message);
}

void ServingSockets::on_binary(const std::shared_ptr<net::Peer>& peer, const std::string& bytes) {
  const ByteSpan span = as_bytes(bytes);
  const bool queued = thread_.post(
      [id = peer->id(), frame = ByteVector(span.begin(), span.end())](
          inference::Desk& desk, Instant time) mutable { desk.hop(id, std::move(frame), time); });
  if (!queued) peer->close(busy_error().message);
}

void ServingSockets::on_closed(inference::ServingId id) {
  (void)thread_.post([this, id](inference::Desk& desk, Instant time) {
    peers_.erase(id);
    joined_.erase(id);
    book_.worker_blobs().remove_line(id);
    desk.left(id, time);
  });
}

void ServingSockets::hear(inference::ServingId id, const wire::ServingWorkerMessage& message,
                          inference::Desk& desk, Instant time) {
  if (std::holds_alternative<wire::Pulse>(message)) {
    if (const auto known = peers_.find(id); known != peers_.end()) {
      if (const auto trip = known->second->round_trip()) desk.measured(id, *trip, time);
    }
  }
  desk.hear(id, message, time);
}

void ServingSockets::join(inference::ServingId id, const std::optional<PublicKey>& key,
                          const wire::Offer& offer, inference::Desk& desk, Instant time) {
  if (!key) return close(id, "The token belongs to no connected worker.");
  if (book_.is_barred(*key, unix_now()))
    return close(id, "The worker's wallet was convicted of a wrong answer and is suspended.");
  if (!joined_.emplace(id, *key).second)
    return close(id, "The worker has already sent its offer on this connection.");
  if (const auto known = peers_.find(id); known != peers_.end()) {
    known->second->admit();
    if (book_.is_known(*key)) known->second->recognise();
  }
  desk.join(id, *key, offer, time);
}

void ServingSockets::send(inference::ServingId session,
                          const wire::ServingCoordinatorMessage& message) {
  const auto peer = peers_.find(session);
  if (peer == peers_.end()) return;
  const auto worker = joined_.find(session);
  if (const auto* load = std::get_if<wire::Load>(&message);
      load != nullptr && worker != joined_.end())
    book_.worker_blobs().allow_model(worker->second, session,
                                     std::array{load->model, load->chunks});
  peer->second->send_text(wire::encode(message));
}

void ServingSockets::send_hop(inference::ServingId session, ByteVector frame) {
  if (const auto peer = peers_.find(session); peer != peers_.end())
    peer->second->send_binary(std::string(as_text(frame)));
}

void ServingSockets::close(inference::ServingId session, const std::string& reason) {
  if (const auto peer = peers_.find(session); peer != peers_.end()) peer->second->close(reason);
}

}  // namespace weft::coordinator
