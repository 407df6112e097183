// The listening side of HTTP: routes, streamed uploads, WebSocket endpoints, TLS and the files of
// the web page. A thin adapter over Drogon. Drogon allows one server for each process, so this does
// too.
//
//   auto server = Server::create({.address = "127.0.0.1", .port = 0,
//                                 .scratch = data / "incoming"});
//   server->route({.method = "GET", .pattern = "/v1/jobs/{}",
//                  .handle = [](IncomingRequest request, Respond respond) {...}});
//   WEFT_OK(server->start());
//
// Threading: handlers run on Drogon's threads, several at a time, and must not block. Respond and
// Peer may be used from any thread. Lifetime: everything is registered before start(); no handler
// runs after stop(). Bounds: bodies, WebSocket messages, bytes queued for a peer that does not
// read, and the resources that strangers may take before they are known (limits.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "platform/net/http.h"
#include "platform/net/limits.h"
#include "platform/net/quota.h"
#include "platform/net/rate_limit.h"

namespace weft::net {

struct TlsFiles {
  std::filesystem::path certificate;  // The PEM file of the certificate chain.
  std::filesystem::path key;
};

struct Route {
  std::string method;   // GET (which includes HEAD), POST or DELETE.
  std::string pattern;  // "/v1/jobs/{}".
  std::function<void(IncomingRequest, Respond)> handle;
  double cost = 1;                      // Tokens of the address's bucket; 0: unlimited.
  std::uint64_t body_bytes_max = 4096;  // Bound for POST and DELETE; others take no body.
  bool is_signed = false;    // The signature headers are checked for their form before the body.
  bool is_new_work = false;  // Refused (503) while the disk is almost full.
  // The type of a body may also be application/octet-stream or missing.
  bool takes_bytes = false;
};

// Receives the body of one upload as it arrives. Not called after finish() or abandon().
class Upload {
 public:
  virtual ~Upload() = default;
  // An error ends the upload and is its answer; bytes that arrive later are dropped.
  [[nodiscard]] virtual Result<> write(std::string_view bytes) = 0;
  virtual void finish(Respond respond) = 0;
  virtual void abandon() = 0;  // Called if the connection broke.
};
struct UploadRoute {
  std::string pattern;
  // Sees the headers before any byte of the body is taken. An error refuses the upload.
  std::function<Result<std::unique_ptr<Upload>>(const IncomingRequest&)> begin;
  double cost = 0;
};

// One WebSocket that a client opened to this server.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(std::string bytes) = 0;
  // Sends the queued messages, then closes. The callback `closed` follows.
  virtual void close(std::string reason) = 0;
  // The Host of the peer's request; it is one of the server's names (Options::hosts).
  [[nodiscard]] virtual const std::string& host() const = 0;
  [[nodiscard]] virtual std::uint64_t id() const = 0;
  [[nodiscard]] virtual const std::string& address() const = 0;
  // Round trip time of the last answered ping; nullopt before the first answer.
  [[nodiscard]] virtual std::optional<Duration> round_trip() const { return std::nullopt; }
  // Ends the bounds of a greeting (SocketRoute::greets), once the peer is known. May be called from
  // any thread.
  virtual void admit() {}
  // The server knows the peer: its connection keeps its place (Limits::known_share), and its
  // address keeps a rate of its own (Limits::strangers_rates). May be called from any thread.
  virtual void recognise() {}
};
struct SocketRoute {
  std::string path;
  // True if peers first say who they are. Until admit() a peer has the time Limits::greeting_max,
  // and its messages may have greeting_bytes_max bytes.
  bool greets = false;
  std::size_t message_bytes_max = std::size_t{1} << 20;
  std::function<void(std::shared_ptr<Peer>)> opened;
  std::function<void(const std::shared_ptr<Peer>&, std::string)> text;
  std::function<void(const std::shared_ptr<Peer>&, std::string)> binary;
  // Called with the size of a message over the bound, whose bytes are dropped. The handler answers
  // and closes.
  std::function<void(const std::shared_ptr<Peer>&, std::size_t bytes)> oversized;
  // Called exactly once, when the WebSocket has ended.
  std::function<void(const std::shared_ptr<Peer>&)> closed;
  double cost = 0;
};

class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // A numeric address, IPv4 or IPv6.
    std::uint16_t port = 0;             // 0: the system chooses a free port.
    std::optional<TlsFiles> tls = {};
    std::filesystem::path scratch = {};  // Folder of bodies over 64 KiB; created if missing.
    std::filesystem::path web =
        {};  // Files of the web page; empty or missing: the page no_web_page.
    std::string page_connects = {};  // Another origin that the page may contact; may be empty.
    std::string no_web_page = {};    // HTML of the page for a server without files.
    // The largest announced length of an upload.
    std::uint64_t upload_bytes_max = std::uint64_t{4} << 30;
    // The maximum number of bytes that a peer has not read; above it the connection ends.
    std::size_t send_queue_bytes_max = std::size_t{32} << 20;
    Duration ping_every =
        // The interval of pings on WebSockets. A socket ends if three pings have no answer.
        std::chrono::seconds(10);
    Limits limits = {};
    // Names that the server answers for besides loopback and its own address: those of its
    // certificate and those by which others call it. "*" in "*.example.org" is one label.
    std::vector<std::string> hosts = {};
    std::vector<std::string> trusted_proxies =
        {};  // Proxies (numeric addresses) whose X-Forwarded-For is trusted.
    std::size_t threads = 2;
    // If this is nullopt, there are no rate limits.
    std::optional<RateLimit::Options> rate_limit = RateLimit::Options{};
  };

  // Fails with invalid_argument for an invalid address, unavailable if the address is taken, and
  // resource_exhausted for a second server.
  [[nodiscard]] static Result<std::unique_ptr<Server>> create(Options options);
  virtual ~Server() = default;

  // Sets the source of the quotas in answers to identified clients, which come in addition to the
  // quota of the address. Called before routes are added.
  virtual void quotas(QuotasOf of) = 0;
  // Sets the function that says which identified clients are known, so that their addresses keep a
  // rate of their own. `is_known` is called from any thread. Called before routes are added.
  virtual void known_clients(std::function<bool(const std::string& client)> is_known) = 0;
  virtual void route(Route route) = 0;
  virtual void upload(UploadRoute route) = 0;
  virtual void socket(SocketRoute route) = 0;

  [[nodiscard]] virtual Result<> start() = 0;
  virtual void stop() = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Returns for example "https://127.0.0.1:7300".
  [[nodiscard]] virtual std::string url() const = 0;
};

// True for an address that only this machine can reach.
[[nodiscard]] bool is_loopback(std::string_view address);
// True for a numeric address: IPv4, or IPv6 without brackets.
[[nodiscard]] bool is_address(const std::string& address);

}  // namespace weft::net
