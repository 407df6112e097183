// Looks at the bytes of each connection before Drogon does: shows heads to the gate, bounds what a
// connection may make us hold (Drogon bounds masked single frames only: fragments and unmasked
// frames would grow without end), and ends connections that take too long. Private to this folder
// (it includes trantor).
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

// What there is to know of a connection between two deliveries of bytes. Threading: the
// connection's own, but for admit() and deadline().
class Watched {
 public:
  explicit Watched(std::weak_ptr<trantor::TcpConnection> connection)
      : connection_(std::move(connection)) {}

  // The one whose bytes are being handled on this thread; none outside of that.
  [[nodiscard]] static std::shared_ptr<Watched> current();

  void became_socket(bool greets, const Limits& limits, Instant at);
  void had_message() { since_message_ = 0; }
  // Its owner knows who it is: bounds of strangers count no more.
  void admit();

 private:
  friend class ConnectionGuard;
  void set_deadline(std::optional<Instant> at) { deadline_ = at.value_or(Instant::max()); }

  const std::weak_ptr<trantor::TcpConnection> connection_;
  std::atomic<Instant> deadline_ = Instant::max();
  std::atomic<std::size_t> greeting_bytes_max_ = 0;  // 0: none, or admitted.
  std::size_t since_message_ = 0;
  bool is_socket_ = false;
  // None once it is a socket: there may be 19,000 of them.
  std::unique_ptr<RequestLengths> lengths_;
  std::shared_ptr<BodyHold> hold_;  // Room for the body that is coming.
  std::uint64_t body_bytes_ = 0;    // Announced.
  std::size_t left_ = 0;            // Bytes that were delivered and not handled yet.
  // How many bytes went in both directions, and since when: of end_late()'s thread.
  std::size_t moved_bytes_ = 0;
  Instant moved_ = now();
  bool refused_ = false;
  bool drops_ = false;
  std::size_t since_refused_ = 0;                  // Bytes that came after that.
  Guarded<std::optional<std::string>> refusal_{};  // Its answer, which waits for the deadline.
};

class ConnectionGuard {
 public:
  struct Options {
    Limits limits;
    std::size_t send_bytes_max = 0;     // Queued for a peer that does not read.
    std::size_t receive_bytes_max = 0;  // That make up no whole message.
    // The whole answer to a request that is refused before Drogon sees it, and the connection with
    // it.
    std::function<std::string(const HeadRefusal&)> refusal;
  };
  ConnectionGuard(Options options, RequestGate& gate) : options_(std::move(options)), gate_(gate) {}

  // For each new connection, on its thread.
  void guard(const trantor::TcpConnectionPtr& connection);
  // Ends those that are over their deadline, or silent. By one thread, about once a second.
  void end_late(Instant at);

 private:
  void refuse(Watched& state, const trantor::TcpConnectionPtr& connection,
              const HeadRefusal& problem, Instant at) const;
  // No byte went in either direction for too long.
  [[nodiscard]] bool is_silent(Watched& state, const trantor::TcpConnection& connection,
                               Instant at) const;
  void take(Watched& state, const trantor::TcpConnectionPtr& from, trantor::MsgBuffer* buffer);
  void set_deadline(Watched& state, std::uint64_t heads_before, bool was_in_head, Instant at) const;

  const Options options_;
  RequestGate& gate_;
  Guarded<std::vector<std::weak_ptr<Watched>>> watched_;
};

}  // namespace weft::net
