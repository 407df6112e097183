// The listening side: routes, streamed uploads, WebSocket endpoints, TLS and the web page's files.
// A thin adapter over Drogon, which is one per process: so is this.
//
//   auto server = Server::create({.address = "127.0.0.1", .port = 0, .scratch = data /
//   "incoming"}); server->route({.method = "GET", .pattern = "/v1/jobs/{}", .handle =
//   [](IncomingRequest request, Respond respond) {...}}); WEFT_OK(server->start());
//
// Threading: handlers run on Drogon's threads, several at a time, and must not block; Respond and
// Peer may be used from any. Lifetime: everything is registered before start(); after stop() no
// handler runs and none will. Bounds: bodies, WebSocket messages, bytes queued towards a peer that
// does not read, and what strangers may take before they are known (limits.h).
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
  std::filesystem::path certificate;  // PEM, with its chain.
  std::filesystem::path key;
};

struct Route {
  std::string method;   // GET (and with it HEAD), POST, DELETE.
  std::string pattern;  // "/v1/jobs/{}".
  std::function<void(IncomingRequest, Respond)> handle;
  double cost = 1;                      // Tokens of the address's bucket; 0: not limited.
  std::uint64_t body_bytes_max = 4096;  // For POST and DELETE; other bodies are refused unread.
  bool is_signed = false;    // Its body is taken only after headers of a signature's form.
  bool is_new_work = false;  // Refused (503) while the disk is almost full.
  // Bodies may be application/octet-stream, or of no type, as well.
  bool takes_bytes = false;
};

// Takes the body of one upload as it comes. Not called again after finish() or abandon().
class Upload {
 public:
  virtual ~Upload() = default;
  // An error ends the upload with that answer; what else arrives is dropped.
  [[nodiscard]] virtual Result<> write(std::string_view bytes) = 0;
  virtual void finish(Respond respond) = 0;
  virtual void abandon() = 0;  // The connection broke.
};
struct UploadRoute {
  std::string pattern;
  // Sees the headers before any byte of the body is taken; an error refuses it.
  std::function<Result<std::unique_ptr<Upload>>(const IncomingRequest&)> begin;
  double cost = 0;
};

// One WebSocket that a client opened to this server.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(std::string bytes) = 0;
  // Sends what is queued, then closes. `closed` follows.
  virtual void close(std::string reason) = 0;
  // The Host that it asked for; it is one of ours (Options::hosts).
  [[nodiscard]] virtual const std::string& host() const = 0;
  [[nodiscard]] virtual std::uint64_t id() const = 0;
  [[nodiscard]] virtual const std::string& address() const = 0;
  // Round trip of the last ping that was answered; nothing before that.
  [[nodiscard]] virtual std::optional<Duration> round_trip() const { return std::nullopt; }
  // The peer is known: the bounds of a greeting (SocketRoute::greets) end. From any
  // thread.
  virtual void admit() {}
  // It is one that the server knows, and keeps its place (Limits::known_share); its address keeps
  // its own rate (Limits::strangers_rates). From any thread.
  virtual void recognise() {}
};
struct SocketRoute {
  std::string path;
  // Peers say who they are first: until admit() they have Limits::greeting_max, and messages of
  // greeting_bytes_max.
  bool greets = false;
  std::size_t message_bytes_max = std::size_t{1} << 20;
  std::function<void(std::shared_ptr<Peer>)> opened;
  std::function<void(const std::shared_ptr<Peer>&, std::string)> text;
  std::function<void(const std::shared_ptr<Peer>&, std::string)> binary;
  // A message over the bound; nothing else of it is kept. The handler answers and closes.
  std::function<void(const std::shared_ptr<Peer>&, std::size_t bytes)> oversized;
  std::function<void(const std::shared_ptr<Peer>&)> closed;  // Exactly once.
  double cost = 0;
};

class Server {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // IPv4 or IPv6, as numbers.
    std::uint16_t port = 0;             // 0: a free one.
    std::optional<TlsFiles> tls = {};
    std::filesystem::path scratch = {};  // Where bodies over 64 KiB wait; made when missing.
    std::filesystem::path web =
        {};  // Files of the web page; empty or missing: a page that says how to build it.
    std::string page_connects = {};  // Another origin that the page may ask; empty: none.
    std::string no_web_page = {};    // That page's HTML.
    std::uint64_t upload_bytes_max = std::uint64_t{4} << 30;  // Announced length of an upload.
    std::size_t send_queue_bytes_max = std::size_t{32}
                                       << 20;  // Unread by a peer; beyond it the connection ends.
    Duration ping_every =
        std::chrono::seconds(10);  // WebSockets; three without an answer end them.
    Limits limits = {};
    // Names that the server answers for, beside loopback and its address: of its certificate, and
    // what others call it. "*.example.org" is one label.
    std::vector<std::string> hosts = {};
    std::vector<std::string> trusted_proxies =
        {};  // Their X-Forwarded-For is believed; addresses as numbers.
    std::size_t threads = 2;
    std::optional<RateLimit::Options> rate_limit = RateLimit::Options{};  // Nothing: no limits.
  };

  // invalid_argument for an invalid address, unavailable if it is taken; resource_exhausted
  // for a second server.
  [[nodiscard]] static Result<std::unique_ptr<Server>> create(Options options);
  virtual ~Server() = default;

  // What answers to identified clients tell beside what their address may ask. Before routes.
  virtual void quotas(QuotasOf of) = 0;
  // Which identified clients are no strangers: their addresses keep a rate of their own. Any
  // thread. Before routes.
  virtual void known_clients(std::function<bool(const std::string& client)> is_known) = 0;
  virtual void route(Route route) = 0;
  virtual void upload(UploadRoute route) = 0;
  virtual void socket(SocketRoute route) = 0;

  [[nodiscard]] virtual Result<> start() = 0;
  virtual void stop() = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // "https://127.0.0.1:7300".
  [[nodiscard]] virtual std::string url() const = 0;
};

// True for addresses that only this machine reaches.
[[nodiscard]] bool is_loopback(std::string_view address);
// IPv4, or IPv6 without brackets.
[[nodiscard]] bool is_address(const std::string& address);

}  // namespace weft::net
