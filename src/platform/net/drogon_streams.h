// Answer bodies that are sent in parts, over Drogon. Private to this folder (it includes Drogon).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <drogon/HttpResponse.h>
#include <trantor/net/TcpConnection.h>

#include "platform/net/http.h"

namespace weft::net {

// Uses Drogon's stream only on the connection's event loop. Drogon checks that the connection is
// open on the caller's thread. Bytes that are queued after that check reach a connection that may
// have ended meanwhile, which then listens for room to write again; trantor ends the process when
// it removes a connection that listens.
class DrogonStream final : public ReplyStream {
 public:
  // Constructed on the connection's loop. `ends`: the connection is closed at the end of the body.
  DrogonStream(drogon::ResponseStreamPtr stream, const std::weak_ptr<trantor::TcpConnection>& from,
               bool ends);
  ~DrogonStream() override { close(); }
  bool send(const std::string& bytes) override;
  void close() override;

 private:
  struct OnLoop {
    drogon::ResponseStreamPtr stream;
  };
  const std::weak_ptr<trantor::TcpConnection> connection_;
  const bool ends_;
  std::shared_ptr<OnLoop> on_loop_;  // Null after close().
};

// A stream for a client of HTTP/1.0, which does not support chunks: collects the body and sends it
// whole.
class CollectedStream final : public ReplyStream {
 public:
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;

  // `reply` has no stream; `connected` is IncomingRequest::connected.
  CollectedStream(Reply reply, std::function<bool()> connected, Respond respond)
      : reply_(std::move(reply)), connected_(std::move(connected)), respond_(std::move(respond)) {}
  ~CollectedStream() override { close(); }
  bool send(const std::string& bytes) override;
  void close() override;

 private:
  Reply reply_;
  const std::function<bool()> connected_;
  Respond respond_;  // Null once the reply was sent.
};

}  // namespace weft::net
