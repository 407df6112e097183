#include "platform/net/drogon_streams.h"

#include <utility>

#include "platform/net/on_loop.h"

namespace weft::net {

DrogonStream::DrogonStream(drogon::ResponseStreamPtr stream,
                           const std::weak_ptr<trantor::TcpConnection>& from, bool ends)
    : connection_(from),
      ends_(ends),
      on_loop_(std::make_shared<OnLoop>(OnLoop{.stream = std::move(stream)})) {}

bool DrogonStream::send(const std::string& bytes) {
  const auto connection = connection_.lock();
  if (!on_loop_ || !connection || !connection->connected()) return false;
  // An empty chunk would end the body.
  if (!bytes.empty()) {
    on_loop(connection->getLoop(), [self = on_loop_, bytes] { self->stream->send(bytes); });
  }
  return true;
}

void DrogonStream::close() {
  auto self = std::exchange(on_loop_, nullptr);
  const auto connection = connection_.lock();
  // Once the connection has ended, Drogon's stream does nothing, so any thread may release it.
  if (!self || !connection || !connection->connected()) return;
  on_loop(connection->getLoop(), [self = std::move(self), connection, ends = ends_] {
    self->stream.reset();
    if (ends) connection->shutdown();
  });
}

bool CollectedStream::send(const std::string& bytes) {
  if (!respond_ || !connected_() || reply_.body.size() + bytes.size() > bytes_max) return false;
  reply_.body += bytes;
  return true;
}

void CollectedStream::close() {
  if (const auto respond = std::exchange(respond_, nullptr)) respond(std::move(reply_));
}

}  // namespace weft::net
