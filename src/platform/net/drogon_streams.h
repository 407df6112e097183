// Bodies that come bit by bit, over Drogon's. Private to this folder (it includes Drogon).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <drogon/HttpResponse.h>
#include <trantor/net/TcpConnection.h>

#include "platform/net/http.h"

namespace weft::net {

// Everything that Drogon's stream does is done on the connection's loop. Its own check that the
// connection is there is made on the caller's thread: what is queued after it, a connection that
// has ended meanwhile takes anyway, listens for room to write again, and trantor ends the
// process when it removes a connection that listens.
class DrogonStream final : public ReplyStream {
 public:
  // On the connection's loop. `ends`: the connection ends with the body.
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
  std::shared_ptr<OnLoop> on_loop_;  // None once it is closed.
};

// For a client of HTTP/1.0, which knows no chunks: the body is collected, and answered whole.
class CollectedStream final : public ReplyStream {
 public:
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;

  // `reply` is without its stream; `connected` as the request's.
  CollectedStream(Reply reply, std::function<bool()> connected, Respond respond)
      : reply_(std::move(reply)), connected_(std::move(connected)), respond_(std::move(respond)) {}
  ~CollectedStream() override { close(); }
  bool send(const std::string& bytes) override;
  void close() override;

 private:
  Reply reply_;
  const std::function<bool()> connected_;
  Respond respond_;  // None once it has answered.
};

}  // namespace weft::net
