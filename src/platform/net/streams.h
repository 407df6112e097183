// Byte streams between two programs: TLS 1.3 over TCP, over trantor. The listener uses a
// certificate that it makes for itself at its start. The caller knows the certificate's fingerprint
// from a source that it trusts and accepts no other certificate. The certificate does not identify
// the caller: the caller identifies itself in its first bytes (a token,
// common/protocol/peer_line.h).
//
//   on the thread of a net::Client:
//   auto listener = StreamListener::create({.address = "127.0.0.1", .scratch = folder},
//                                          [](std::shared_ptr<Stream> stream) {...});
//   dial({.address = ..., .port = ..., .fingerprint = listener->fingerprint()},
//        [](Result<std::shared_ptr<Stream>> stream) {...});
//
// Threading: every object is made, used and called back on the thread of one Client; no callback
// runs inside the call that asked for it. Bounds: the bytes that a peer has not read
// (send_bytes_max), the connections of a listener (connections_max), the wait of dial().
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::net {

struct StreamEvents {
  std::function<void(ByteSpan bytes)> bytes =
      // The function is copied before every call, so that a call may close the stream. It holds no
      // state of its own.
      {};
  std::function<void()> closed = {};  // Called once, unless close() was called before.
};

class Stream {
 public:
  static constexpr std::size_t send_bytes_max = std::size_t{32} << 20;

  virtual ~Stream() = default;  // The destructor closes the stream.
  // Sets the callbacks, before any byte was taken. Bytes that arrived earlier are delivered soon.
  virtual void listen(StreamEvents events) = 0;
  virtual void send(ByteSpan bytes) = 0;
  // Sends the queued bytes, then closes. No event follows.
  virtual void close() = 0;
  [[nodiscard]] virtual const std::string& peer() const = 0;  // "127.0.0.1:4711"
};

class StreamListener {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // A numeric address, IPv4 or IPv6.
    std::uint16_t port = 0;             // 0: the system chooses a free port.
    std::filesystem::path scratch;      // An existing folder; the key is there until it is read.
    std::size_t connections_max = 256;
  };
  // Fails with invalid_argument for an invalid address, unavailable if the address is taken.
  [[nodiscard]] static Result<std::unique_ptr<StreamListener>> create(
      Options options, std::function<void(std::shared_ptr<Stream>)> taken);
  virtual ~StreamListener() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // SHA-256 of the certificate as 64 hex digits.
  [[nodiscard]] virtual const std::string& fingerprint() const = 0;
};

struct DialOptions {
  std::string address;  // A numeric address.
  std::uint16_t port = 0;
  std::string fingerprint;
  Duration patience = std::chrono::seconds(1);
};
// Connects to a listener. Fails with unavailable if no connection opens in time, unauthenticated if
// the certificate has another fingerprint.
void dial(const DialOptions& options, std::function<void(Result<std::shared_ptr<Stream>>)> done);

// Returns the address from which this machine sends to `host`; empty if it is not known. No packet
// is sent.
[[nodiscard]] std::string address_towards(const std::string& host, std::uint16_t port);

}  // namespace weft::net
