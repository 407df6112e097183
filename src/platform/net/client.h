// An HTTP and WebSocket client for one coordinator, used by the native worker and `weft submit`.
//
//   auto client = net::Client::create({.url = "https://10.0.0.2:7300",
//                                      .tls = {.ca_cert = "ca.pem"}});
//   client->send(net::get("/v1/info"), [](Result<net::Response> answer) { ... });
//   auto socket = client->connect("/v1/worker", {.open = ..., .text = ..., .binary = ...,
//                                                .closed = ...});
//
// Threading: a Client runs its own event-loop thread. All callbacks run on that thread, one at a
// time, and must not block. Every function may be called from any thread; send_now() from any
// thread except the client's own. Lifetime: the Client's destructor drops the answers that are
// still awaited, and no callback runs after it. It must not be destroyed on its own thread.
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
      {};                 // PEM file with authorities that are trusted besides those of the system.
  bool insecure = false;  // If true, any certificate is accepted.
};

using Headers = std::map<std::string, std::string>;  // Header names are in lower case.

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
// Asks for the bytes [first, first + count).
[[nodiscard]] Request get_range(std::string path, std::uint64_t first, std::uint64_t count);
[[nodiscard]] Request put(std::string path, std::string body);
[[nodiscard]] Request post(std::string path, std::string body,
                           std::string content_type = "application/json");
// Encodes one segment of a path: every byte except letters, digits, - . _ and ~ becomes %XX.
[[nodiscard]] std::string percent_encoded(std::string_view segment);
// Returns the request with the header "Authorization: Bearer TOKEN".
[[nodiscard]] Request with_bearer(Request request, std::string_view token);

// The error that the server reported: the `detail` of its problem document, with the ErrorCode that
// fits the status.
[[nodiscard]] Error error_of(const Response& response);
// Returns the wait before a request is repeated that the server refused temporarily (429, 503): the
// time of the Retry-After header, at most a minute, or a second without this header.
[[nodiscard]] std::optional<Duration> retry_after(const Response& response);

struct SocketHandlers {
  std::function<void()> open = {};
  std::function<void(std::string text)> text = {};
  std::function<void(ByteVector bytes)> binary = {};
  // Called exactly once, at the end, even if the connection never opened. No callback follows it.
  std::function<void(Error why)> closed = {};
};

// One WebSocket. close() closes it; dropping the last reference does not. Messages that are sent
// after the end of the connection are dropped.
class Socket {
 public:
  virtual ~Socket() = default;
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(ByteVector bytes) = 0;
  // Sends the queued messages, then closes. The callback `closed` follows.
  virtual void close() = 0;
};

class Client {
 public:
  struct Options {
    std::string url;
    TlsOptions tls = {};
    std::size_t connections = 4;  // HTTP requests at a time; further requests wait.
    Duration silence_max = std::chrono::seconds(
        // A socket that receives nothing for this time is closed (the server pings every 10 s).
        35);
    std::size_t message_bytes_max =
        std::size_t{4}  // The maximum length of a WebSocket message from the server.
        << 20;
  };
  using Answer = std::function<void(Result<Response>)>;

  // Starts the thread; connections are made later. Fails with invalid_argument if the URL or the CA
  // file cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Client>> create(Options options);
  virtual ~Client() = default;

  // Sends a request; any HTTP status is a Response. Fails with unavailable without a connection,
  // deadline_exceeded after the timeout, unsupported if the server does not speak HTTP, and
  // unauthenticated if the server's certificate is not trusted.
  virtual void send(Request request, Answer answer) = 0;
  [[nodiscard]] virtual Result<Response> send_now(Request request) = 0;

  [[nodiscard]] virtual std::shared_ptr<Socket> connect(std::string path,
                                                        SocketHandlers handlers) = 0;

  // Runs work on the client's thread, now or later.
  virtual void post(std::function<void()> work) = 0;
  virtual void after(Duration delay, std::function<void()> work) = 0;
  // Runs work on the client's thread after the event loop has looked at its connections once more.
  // (Work that is posted by posted work runs before that.)
  virtual void next_turn(std::function<void()> work) = 0;
  [[nodiscard]] virtual const Url& url() const = 0;
};

}  // namespace weft::net
