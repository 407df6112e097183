// HTTP and WebSocket towards one coordinator, for the native worker and for `weft submit`.
//
//   auto client = net::Client::create({.url = "https://10.0.0.2:7300", .tls = {.ca_cert =
//   "ca.pem"}}); client->send(net::get("/v1/info"), [](Result<net::Response> answer) { ... }); auto
//   socket = client->connect("/v1/worker", {.open = ..., .text = ..., .binary = ..., .closed =
//   ...});
//
// Threading: a Client runs its own event-loop thread. All callbacks run there, one at a time, and
// must not block. Every function may be called from any thread; send_now() from any but that one.
// Lifetime: after the Client's destructor no callback runs; answers that are still out are then
// dropped, not called. Not to be destroyed on its own thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::net {

// http://HOST[:PORT] or https://HOST[:PORT]; IPv6 addresses in brackets.
struct Url {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;

  [[nodiscard]] static Result<Url> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string authority() const;  // HOST:PORT.
};

struct TlsOptions {
  std::string ca_cert =
      {};  // PEM file that the server's certificate must lead to, besides the system's store.
  bool insecure = false;  // Accept any certificate.
};

using Headers = std::map<std::string, std::string>;  // Names in lower case.

struct Request {
  std::string method = "GET";
  std::string path = {};
  Headers headers = {};
  std::string body = {};
  Duration timeout = std::chrono::seconds(30);
};
struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};

  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
};

[[nodiscard]] Request get(std::string path);
// Bytes [first, first + count).
[[nodiscard]] Request get_range(std::string path, std::uint64_t first, std::uint64_t count);
[[nodiscard]] Request put(std::string path, std::string body);
[[nodiscard]] Request post(std::string path, std::string body,
                           std::string content_type = "application/json");
// One segment of a path: everything but letters, digits, - . _ and ~ as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view segment);
// "Authorization: Bearer TOKEN".
[[nodiscard]] Request with_bearer(Request request, std::string_view token);

// What the server said went wrong: the `detail` of its problem document, with a code that fits the
// status.
[[nodiscard]] Error error_of(const Response& response);
// How long to wait before the same is asked again, where the server refuses it for now (429, 503):
// its Retry-After, a minute at most, and a second where it names none.
[[nodiscard]] std::optional<Duration> retry_after(const Response& response);

struct SocketHandlers {
  std::function<void()> open = {};
  std::function<void(std::string text)> text = {};
  std::function<void(ByteVector bytes)> binary = {};
  // Exactly once at the end, also where the connection never opened; nothing comes after it.
  std::function<void(Error why)> closed = {};
};

// One WebSocket. Dropping the last reference does not close it; close() does. Sends after the end
// are dropped.
class Socket {
 public:
  virtual ~Socket() = default;
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(ByteVector bytes) = 0;
  // Sends what is queued, then closes. `closed` follows.
  virtual void close() = 0;
};

class Client {
 public:
  struct Options {
    std::string url;
    TlsOptions tls = {};
    std::size_t connections = 4;  // HTTP requests at a time; others wait.
    Duration silence_max = std::chrono::seconds(
        35);  // A socket that hears nothing (the server pings every 10 s) is closed.
    std::size_t message_bytes_max = std::size_t{4}
                                    << 20;  // Length of a WebSocket message from the server.
  };
  using Answer = std::function<void(Result<Response>)>;

  // Starts the thread; connects later. invalid_argument for a URL or CA file that cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Client>> create(Options options);
  virtual ~Client() = default;

  // unavailable if there is no connection, deadline_exceeded after the timeout, unsupported
  // if what answers speaks no HTTP, unauthenticated if its certificate is not trusted. Any
  // HTTP status is a Response.
  virtual void send(Request request, Answer answer) = 0;
  [[nodiscard]] virtual Result<Response> send_now(Request request) = 0;

  [[nodiscard]] virtual std::shared_ptr<Socket> connect(std::string path,
                                                        SocketHandlers handlers) = 0;

  // Run something on the client's thread, now or later.
  virtual void post(std::function<void()> work) = 0;
  virtual void after(Duration delay, std::function<void()> work) = 0;
  // On the client's thread: as soon as it has looked at its connections once more. (What is posted
  // from what was posted runs before that.)
  virtual void next_turn(std::function<void()> work) = 0;
  [[nodiscard]] virtual const Url& url() const = 0;
};

}  // namespace weft::net
