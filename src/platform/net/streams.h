// Lines of bytes between two programs: TLS 1.3 over TCP, over trantor. The listener shows a
// certificate that it made for itself at its start; the caller knows its fingerprint from
// a source that it trusts, and takes no other. The certificate does not identify the caller: the
// caller does so in its first bytes (a token, common/protocol/peer_line.h).
//
//   on the thread of a net::Client:
//   auto listener = StreamListener::create({.address = "127.0.0.1", .scratch = folder},
//   [](std::shared_ptr<Stream> stream) {...}); dial({.address = ..., .port = ..., .fingerprint =
//   listener->fingerprint()}, [](Result<std::shared_ptr<Stream>> stream) {...});
//
// Threading: everything is made, used and called back on the thread of the Client on which it was
// made; no callback runs inside the call that asked for it. Bounds: unread bytes towards a peer
// (send_bytes_max), connections of a listener (connections_max), the wait of dial().
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
      {};  // Copied before every call, so that it may close the stream: it holds no state itself.
  std::function<void()> closed = {};  // Once, unless close() was called before.
};

class Stream {
 public:
  static constexpr std::size_t send_bytes_max = std::size_t{32} << 20;

  virtual ~Stream() = default;  // Closes.
  // Before any byte was taken; what came meanwhile is told soon.
  virtual void listen(StreamEvents events) = 0;
  virtual void send(ByteSpan bytes) = 0;
  // Sends what is queued first. No event follows.
  virtual void close() = 0;
  [[nodiscard]] virtual const std::string& peer() const = 0;  // "127.0.0.1:4711"
};

class StreamListener {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // IPv4 or IPv6, as numbers.
    std::uint16_t port = 0;             // 0: a free one.
    std::filesystem::path scratch;      // An existing folder; the key lies there until it is read.
    std::size_t connections_max = 256;
  };
  // invalid_argument for an invalid address, unavailable if it is taken.
  [[nodiscard]] static Result<std::unique_ptr<StreamListener>> create(
      Options options, std::function<void(std::shared_ptr<Stream>)> taken);
  virtual ~StreamListener() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // SHA-256 of the certificate, 64 hex digits.
  [[nodiscard]] virtual const std::string& fingerprint() const = 0;
};

struct DialOptions {
  std::string address;  // As numbers.
  std::uint16_t port = 0;
  std::string fingerprint;
  Duration patience = std::chrono::seconds(1);
};
// unavailable if no connection opens in time, unauthenticated if another program answers.
void dial(const DialOptions& options, std::function<void(Result<std::shared_ptr<Stream>>)> done);

// The address by which this machine is seen from `host`; empty where it is not known. No packet is
// sent.
[[nodiscard]] std::string address_towards(const std::string& host, std::uint16_t port);

}  // namespace weft::net
