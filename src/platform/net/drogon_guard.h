// Inspects the bytes of each connection before Drogon does: shows request heads to the gate, bounds
// the memory that a connection can take, and ends connections that take too long. (Drogon bounds
// only single masked frames; fragments and unmasked frames would grow without end.) Private to this
// folder (it includes trantor).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <trantor/net/TcpConnection.h>

#include "common/base/guarded.h"
#include "platform/net/limits.h"
#include "platform/net/request_gate.h"
#include "platform/net/request_lengths.h"

namespace weft::net {

// The state of a connection between two deliveries of bytes. Threading: the connection's thread,
// except for admit() and deadline().
class Watched {
 public:
  explicit Watched(std::weak_ptr<trantor::TcpConnection> connection)
      : connection_(std::move(connection)) {}

  // The connection whose bytes this thread is handling; null outside of such handling.
  [[nodiscard]] static std::shared_ptr<Watched> current();

  void became_socket(bool greets, const Limits& limits, Instant at);
  void had_message() { since_message_ = 0; }
  // The peer has said who it is: the bounds for strangers no longer apply.
  void admit();

 private:
  friend class ConnectionGuard;
  void set_deadline(std::optional<Instant> at) { deadline_ = at.value_or(Instant::max()); }

  const std::weak_ptr<trantor::TcpConnection> connection_;
  std::atomic<Instant> deadline_ = Instant::max();
  // 0 if there is no bound or the peer was admitted.
  std::atomic<std::size_t> greeting_bytes_max_ = 0;
  std::size_t since_message_ = 0;
  bool is_socket_ = false;
  // Null once the connection is a WebSocket, to save memory: there may be 19,000 of them.
  std::unique_ptr<RequestLengths> lengths_;
  std::shared_ptr<BodyHold> hold_;  // Room for the body that is being received.
  std::uint64_t body_bytes_ = 0;    // Content-Length of the body that is being received.
  std::size_t left_ = 0;            // Bytes that were delivered and are not handled yet.
  // The number of bytes of both directions, and the time of its last change. Used by end_late()
  // only.
  std::size_t moved_bytes_ = 0;
  Instant moved_ = now();
  bool refused_ = false;
  bool drops_ = false;
  std::size_t since_refused_ = 0;  // The number of bytes that came after the refusal.
  Guarded<std::optional<std::string>> refusal_{};  // The answer to send at the deadline.
};

class ConnectionGuard {
 public:
  struct Options {
    Limits limits;
    // The maximum number of bytes queued for a peer that does not read.
    std::size_t send_bytes_max = 0;
    std::size_t receive_bytes_max = 0;  // The maximum number of bytes without a whole message.
    // Makes the whole answer to a request that is refused before Drogon sees it. The connection
    // ends with that answer.
    std::function<std::string(const HeadRefusal&)> refusal;
  };
  ConnectionGuard(Options options, RequestGate& gate) : options_(std::move(options)), gate_(gate) {}

  // Called for each new connection, on the connection's thread.
  void guard(const trantor::TcpConnectionPtr& connection);
  // Ends connections that are past their deadline or silent. Called by one thread, about once a
  // second.
  void end_late(Instant at);

 private:
  void refuse(Watched& state, const trantor::TcpConnectionPtr& connection,
              const HeadRefusal& problem, Instant at) const;
  // True if no byte went in either direction for Limits::silent_max.
  [[nodiscard]] bool is_silent(Watched& state, const trantor::TcpConnection& connection,
                               Instant at) const;
  void take(Watched& state, const trantor::TcpConnectionPtr& from, trantor::MsgBuffer* buffer);
  void set_deadline(Watched& state, std::uint64_t heads_before, bool was_in_head, Instant at) const;

  const Options options_;
  RequestGate& gate_;
  Guarded<std::vector<std::weak_ptr<Watched>>> watched_;
};

}  // namespace weft::net
