#include "platform/net/server.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <future>
#include <limits>
#include <thread>
#include <unistd.h>
#include <utility>

#include <arpa/inet.h>
#include <drogon/HttpAppFramework.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <trantor/net/TcpConnection.h>

#include "common/base/format.h"
#include "common/base/guarded.h"
#include "common/base/log.h"
#include "platform/net/address.h"
#include "platform/net/connection_table.h"
#include "platform/net/drogon_guard.h"
#include "platform/net/drogon_setup.h"
#include "platform/net/drogon_sockets.h"
#include "platform/net/drogon_streams.h"
#include "platform/net/request_gate.h"
#include "platform/net/static_files.h"
#include "platform/net/tls.h"

namespace weft::net {

namespace {

using Callback = std::function<void(const drogon::HttpResponsePtr&)>;
using IsKnownClient = std::function<bool(const std::string& client)>;

// Tokens that a new connection with TLS costs, because of the signature of its handshake.
constexpr double tls_connection_cost = 4;

// Drogon ends a connection at the last request of its bound, so its bound is one higher than ours.
// 0 means no bound for both.
constexpr std::size_t pipelined_bound(std::size_t most) { return most == 0 ? 0 : most + 1; }

// Headers of every answer: isolation (for precise clocks and shared memory in the browser), and no
// guessing of content types.
constexpr std::pair<const char*, const char*> common_headers[] = {
    {"cross-origin-opener-policy", "same-origin"},
    {"cross-origin-embedder-policy", "require-corp"},
    {"cross-origin-resource-policy", "same-origin"},
    {"x-content-type-options", "nosniff"},
    {"referrer-policy", "no-referrer"},
};

IncomingRequest from_drogon(const drogon::HttpRequestPtr& in, bool with_body,
                            const RequestGate& gate) {
  IncomingRequest request;
  request.method = in->methodString();
  request.path = in->path();
  request.parameters = in->getRoutingParameters();
  for (const auto& [name, value] : in->parameters()) request.query.emplace(name, value);
  for (const auto& [name, value] : in->headers()) request.headers.emplace(name, value);
  if (with_body) request.body = std::string(in->body());
  request.address = gate.address_of(in->peerAddr().toIp(), request.header("x-forwarded-for"));
  request.connected = [connection = in->getConnectionPtr()] {
    const auto alive = connection.lock();
    return alive != nullptr && alive->connected();
  };
  return request;
}

// The client that a handler has identified, for the headers of its answer. It is set before the
// answer, if at all.
class Identified {
 public:
  Identified(const QuotasOf& quotas, const IsKnownClient& is_known, IncomingRequest& request)
      : quotas_(quotas) {
    request.identify = [client = client_, &is_known,
                        recognise = request.recognise_client](const std::string& key) {
      *client = key;
      if (is_known && is_known(key)) recognise(key);
    };
  }
  // Adds the client's quotas as headers, to which add_rate() adds that of the address.
  void tell(const drogon::HttpResponsePtr& response) const {
    if (client_->empty() || !quotas_) return;
    const QuotaHeaders headers = quota_headers(quotas_(*client_));
    if (headers.policy.empty()) return;
    response->addHeader("ratelimit-policy", headers.policy);
    response->addHeader("ratelimit", headers.left);
  }

 private:
  const QuotasOf& quotas_;  // The server owns it.
  const std::shared_ptr<std::string> client_ = std::make_shared<std::string>();
};

// The client that receives an answer whose body is sent in parts.
struct Taker {
  std::weak_ptr<trantor::TcpConnection> connection{};
  bool ends = false;  // The client asked for the connection to be closed.
};

bool asks_for_the_end(const drogon::HttpRequestPtr& request) {
  std::string wanted = request->getHeader("connection");
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return std::tolower(c); });
  return wanted.contains("close");
}

drogon::HttpResponsePtr to_drogon(Reply reply, const Taker& taker = {}) {
  const auto type = reply.headers.find("content-type");
  const std::string content_type =
      type == reply.headers.end() ? "application/octet-stream" : type->second;
  drogon::HttpResponsePtr response;
  if (reply.stream) {
    response = drogon::HttpResponse::newAsyncStreamResponse(
        [begin = std::move(reply.stream), taker](drogon::ResponseStreamPtr stream) {
          begin(std::make_shared<DrogonStream>(std::move(stream), taker.connection, taker.ends));
        },
        true);
    if (taker.ends) response->addHeader("connection", "close");
    response->setContentTypeString(content_type);
  } else if (reply.file && reply.file->size > 0) {
    response = drogon::HttpResponse::newFileResponse(reply.file->path.string(), reply.file->offset,
                                                     reply.file->size, false, "", drogon::CT_CUSTOM,
                                                     content_type);
    if (response->statusCode() != drogon::k200OK &&
        response->statusCode() != drogon::k206PartialContent) {
      return to_drogon(
          problem({ErrorCode::data_loss, "The file with the stored bytes cannot be read."}));
    }
  } else {
    response = drogon::HttpResponse::newHttpResponse();
    response->setContentTypeString(content_type);
    response->setBody(std::move(reply.body));
  }
  response->setStatusCode(static_cast<drogon::HttpStatusCode>(reply.status));
  for (const auto& [name, value] : reply.headers) {
    if (name != "content-type") response->addHeader(name, value);
  }
  return response;
}

// Protocols are turned off, because trantor sets the minimum version to TLS 1.2 afterwards.
const std::vector<std::pair<std::string, std::string>> only_tls_1_3 = {
    {"Protocol", "-ALL,TLSv1.3"}};

drogon::HttpResponsePtr refusal(const Error& error, int status) {
  auto response = to_drogon(problem(error, status));
  response->setCloseConnection(true);  // The rest of the body may still arrive.
  return response;
}

// The bytes of a refusal's answer, for connections that are refused before Drogon sees them.
std::string refusal_text(const HeadRefusal& refused) {
  Reply reply = problem(refused.error, refused.status);
  for (const auto& [name, value] : common_headers) reply.headers.emplace(name, value);
  std::string out = weft::format("HTTP/1.1 {} {}\r\nconnection: close\r\ncontent-length: {}\r\n",
                                 reply.status, reason_phrase(reply.status), reply.body.size());
  for (const auto& [name, value] : reply.headers) out += weft::format("{}: {}\r\n", name, value);
  return out + "\r\n" + reply.body;
}

// Passes the parts of a body to an Upload, and answers once.
class UploadReader final : public drogon::RequestStreamReader {
 public:
  UploadReader(Result<std::unique_ptr<Upload>> upload, Callback answer)
      : answer_(std::move(answer)) {
    if (upload) {
      upload_ = std::move(*upload);
    } else {
      refuse(upload.error());
    }
  }
  ~UploadReader() override {
    if (upload_) upload_->abandon();
  }

  void onStreamData(const char* bytes, std::size_t size) override {
    if (!upload_) return;
    if (auto written = upload_->write({bytes, size}); !written) refuse(written.error());
  }
  void onStreamFinish(std::exception_ptr broken) override {
    if (!upload_) return;
    if (broken) {
      std::exchange(upload_, nullptr)->abandon();
    } else {
      // The answer may come later, from another thread, and does not need the upload.
      const std::shared_ptr<Upload> upload = std::exchange(upload_, nullptr);
      upload->finish([answer = std::exchange(answer_, nullptr), upload](Reply reply) {
        answer(to_drogon(std::move(reply)));
      });
    }
  }

 private:
  void refuse(const Error& error) {
    if (auto upload = std::exchange(upload_, nullptr)) upload->abandon();
    if (auto answer = std::exchange(answer_, nullptr)) {
      answer(refusal(error,
                     error.code == ErrorCode::resource_exhausted ? 413 : http_status(error.code)));
    }
  }

  std::unique_ptr<Upload> upload_;
  Callback answer_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};
Result<SocketAddress> socket_address(const std::string& address, std::uint16_t port) {
  SocketAddress result;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    result.size = sizeof *v4;
  } else if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    result.size = sizeof *v6;
  } else {
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not an IP address to listen on, such as 127.0.0.1 or 0.0.0.0.", address);
  }
  return result;
}

// Returns the requested port, or a free one for port 0, if `address` can be bound to it. Drogon
// itself would end the process if the port is taken.
Result<std::uint16_t> probe_port(const std::string& address, std::uint16_t port) {
  WEFT_ASSIGN(SocketAddress at, socket_address(address, port));
  auto& [storage, size] = at;
  const int descriptor = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = descriptor >= 0 &&
                     bind(descriptor, reinterpret_cast<const sockaddr*>(&storage), size) == 0 &&
                     listen(descriptor, 1) == 0;
  const int reason = errno;
  if (bound) getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size);
  close(descriptor);
  if (!bound && reason == EADDRNOTAVAIL)
    return fail(ErrorCode::invalid_argument,
                "{} is not an address of this machine, so nothing can listen there (--listen).",
                address);
  if (!bound) {
    return fail(ErrorCode::unavailable,
                "{} port {} cannot be listened on: {}. Choose another with --listen.", address,
                port, std::generic_category().message(reason));
  }
  return ntohs(storage.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&storage)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
}

// Waits until the port accepts connections. Drogon reports that it runs before it listens, but a
// caller that is told that the server has started may connect at once.
Result<> wait_until_it_listens(const std::string& address, std::uint16_t port) {
  WEFT_ASSIGN(const SocketAddress at, socket_address(address, port));
  const Instant give_up = now() + std::chrono::seconds(10);
  for (;;) {
    const int descriptor = socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens =
        descriptor >= 0 &&
        connect(descriptor, reinterpret_cast<const sockaddr*>(&at.storage), at.size) == 0;
    if (descriptor >= 0) close(descriptor);
    if (listens) return {};
    if (now() > give_up)
      return fail(ErrorCode::unavailable,
                  "The server does not begin to listen on {} port {} in time.", address, port);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The number of connections up to `connections_max` that the process can hold: each takes a
// descriptor, and files need some too.
std::size_t possible_connections(const Limits& limits) {
  rlimit descriptors{};
  if (limits.connections_max == 0 || getrlimit(RLIMIT_NOFILE, &descriptors) != 0 ||
      descriptors.rlim_cur == RLIM_INFINITY)
    return limits.connections_max;
  constexpr std::size_t least = 16;
  const auto all = static_cast<std::size_t>(descriptors.rlim_cur);
  const std::size_t left = all > limits.descriptors_kept ? all - limits.descriptors_kept : 0;
  return std::min(limits.connections_max, std::max(left, least));
}

std::optional<std::uint64_t> cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) return std::nullopt;
  return cookie;
}

bool is_open(const ConnectionTable::Socket& socket) {
  return cookie_of(socket.descriptor) == socket.cookie;
}

// Returns the host names that the server answers for. A wildcard address stands for all addresses
// of this machine.
std::vector<std::string> accepted_hosts(const Server::Options& options) {
  std::vector<std::string> hosts = options.hosts;
  const auto add = [&](std::vector<std::string> more) {
    hosts.insert(hosts.end(), more.begin(), more.end());
  };
  add(options.address == "0.0.0.0" || options.address == "::" ? local_names()
                                                              : std::vector{options.address});
  if (options.tls) add(names_of(*options.tls));
  return hosts;
}

class DrogonServer final : public Server {
 public:
  DrogonServer(Options options, std::uint16_t port)
      : options_(std::move(options)),
        port_(port),
        files_(options_.web, options_.no_web_page, options_.page_connects),
        gate_({.limits = options_.limits,
               .rate = options_.rate_limit,
               .connection_cost = options_.tls ? tls_connection_cost : 1,
               .hosts = accepted_hosts(options_),
               .trusted_proxies = options_.trusted_proxies,
               .disk_bytes_free = [this] { return disk_bytes_free(); }}),
        guard_({.limits = options_.limits,
                .send_bytes_max = options_.send_queue_bytes_max,
                .receive_bytes_max = drogon_message_bytes_max + (std::size_t{64} << 10),
                .refusal = refusal_text},
               gate_),
        sockets_(std::make_shared<DrogonSockets>(
            options_.ping_every, options_.limits,
            [this](const std::string& peer, const std::string& header) {
              return gate_.address_of(peer, header);
            },
            [this](const std::string& peer, const std::string& address) {
              recognise(peer, address);
            })),
        connections_(
            ConnectionTable(options_.limits, possible_connections(options_.limits), is_open)) {}
  ~DrogonServer() override { stop(); }

  void quotas(QuotasOf of) override { quotas_ = std::move(of); }
  void known_clients(std::function<bool(const std::string& client)> is_known) override {
    is_known_client_ = std::move(is_known);
  }

  void route(Route route) override {
    patterns_.emplace_back(route.method, route.pattern);
    body_bytes_max_ = std::max(body_bytes_max_, route.body_bytes_max);
    gate_.add({.method = route.method,
               .pattern = route.pattern,
               .cost = route.cost,
               .body_bytes_max = route.body_bytes_max,
               .is_signed = route.is_signed,
               .is_new_work = route.is_new_work,
               .takes_bytes = route.takes_bytes});
    const auto method = route.method == "POST"     ? drogon::Post
                        : route.method == "DELETE" ? drogon::Delete
                                                   : drogon::Get;
    drogon::app().registerHandlerViaRegex(
        regex(route.pattern),
        [this, handle = std::move(route.handle)](const drogon::HttpRequestPtr& request,
                                                 Callback&& callback) {
          IncomingRequest whole = incoming(request, true);
          // The bytes of the body count until the request is answered.
          auto hold = gate_.hold(whole.address, whole.body.size());
          const Identified who(quotas_, is_known_client_, whole);
          const auto connected = whole.connected;
          handle(std::move(whole), [callback = std::move(callback), hold = std::move(hold), who,
                                    connected, old = request->version() == drogon::Version::kHttp10,
                                    taker = Taker{.connection = request->getConnectionPtr(),
                                                  .ends = asks_for_the_end(request)}](Reply reply) {
            const Respond respond = [callback, who, taker](Reply whole) {
              const auto response = to_drogon(std::move(whole), taker);
              who.tell(response);
              callback(response);
            };
            if (!reply.stream || !old) return respond(std::move(reply));
            const auto begin = std::exchange(reply.stream, nullptr);
            begin(std::make_shared<CollectedStream>(std::move(reply), connected, respond));
          });
        },
        {method});
  }

  void upload(UploadRoute route) override {
    patterns_.emplace_back("PUT", route.pattern);
    gate_.add({.method = "PUT",
               .pattern = route.pattern,
               .cost = route.cost,
               .body_bytes_max = options_.upload_bytes_max,
               .is_upload = true});
    drogon::app().registerHandlerViaRegex(
        regex(route.pattern),
        [this, begin = std::move(route.begin)](const drogon::HttpRequestPtr& request,
                                               drogon::RequestStreamPtr&& stream,
                                               Callback&& callback) {
          IncomingRequest head = incoming(request, false);
          const Identified who(quotas_, is_known_client_, head);
          auto answer = [callback = std::move(callback),
                         who](const drogon::HttpResponsePtr& response) {
            who.tell(response);
            callback(response);
          };
          stream->setStreamReader(std::make_shared<UploadReader>(begin(head), std::move(answer)));
        },
        {drogon::Put});
  }

  void socket(SocketRoute route) override {
    gate_.add({.method = "GET", .pattern = route.path, .cost = route.cost, .is_socket = true});
    sockets_->add(std::move(route));
  }

  Result<> start() override {
    auto& app = drogon::app();
    std::error_code error;
    std::filesystem::create_directories(options_.scratch / "empty", error);
    if (error)
      return fail(ErrorCode::unavailable, "The folder {} cannot be made: {}.",
                  options_.scratch.string(), error.message());
    app.setUploadPath(options_.scratch.string());
    // Drogon would serve files of the working folder by itself. It gets an empty folder, because
    // static_files.h serves the files.
    app.setDocumentRoot((options_.scratch / "empty").string());
    app.setFileTypes({}).setImplicitPageEnable(false);
    app.disableSigtermHandling().enableServerHeader(false).enableGzip(false).enableBrotli(false);
    app.setThreadNum(options_.threads)
        // Drogon's bound is off, because ConnectionTable counts connections before Drogon does.
        .setMaxConnectionNum(std::numeric_limits<std::int32_t>::max())
        .setIdleConnectionTimeout(0)  // Limits::silent_max replaces this timeout.
        .setPipeliningRequestsNumber(pipelined_bound(options_.limits.pipelined_max));
    app.setClientMaxBodySize(std::max(body_bytes_max_, options_.upload_bytes_max));
    app.enableRequestStream(true);
    // The port is reused because each thread has a listener; probe_port() has checked that it is
    // free.
    app.enableReusePort(true);
    if (options_.tls) {
      app.addListener(options_.address, port_, true, options_.tls->certificate.string(),
                      options_.tls->key.string(), false, only_tls_1_3);
    } else {
      app.addListener(options_.address, port_);
    }
    register_hooks();
    drogon::DrClassMap::setSingleInstance(sockets_);
    for (const auto& [path, route] : sockets_->routes())
      app.registerWebSocketController(path, DrogonSockets::classTypeName());

    std::promise<void> running;
    app.registerBeginningAdvice([this, &running] {
      // Each peer is looked at once within a quarter of the ping interval; one look covers a
      // hundredth of the peers.
      const double around = seconds(options_.ping_every) / 4;
      const double every = std::max(around / 100, 0.005);
      drogon::app().getLoop()->runEvery(
          every, [sockets = sockets_, share = std::min(every / around, 1.0)] {
            sockets->keep_alive(now(), share);
          });
      drogon::app().getLoop()->runEvery(1.0, [this] {
        guard_.end_late(now());
        end_late_handshakes();
      });
      running.set_value();
    });
    thread_ = std::thread([] { drogon::app().run(); });
    running.get_future().wait();
    const Result<> listens = wait_until_it_listens(options_.address, port_);
    let_drogon_complain(false);
    return listens;
  }

  void stop() override {
    if (!thread_.joinable()) return;
    sockets_->close_all();
    drogon::app().quit();
    thread_.join();
  }

  std::uint16_t port() const override { return port_; }
  std::string url() const override {
    const bool v6 = options_.address.contains(':');
    return weft::format("{}://{}{}{}:{}", options_.tls ? "https" : "http", v6 ? "[" : "",
                        options_.address, v6 ? "]" : "", port_);
  }

 private:
  // Returns the regular expression of a pattern like "/v1/jobs/{}". (Drogon's own placeholders must
  // be arguments of the handler, one by one.)
  static std::string regex(std::string_view pattern) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern.substr(i, 2) == "{}") {
        out += "([^/]*)";
        ++i;
      } else {
        if (pattern[i] == '.') out += '\\';
        out += pattern[i];
      }
    }
    return out;
  }

  static drogon::HttpResponsePtr not_possible(const drogon::HttpRequestPtr& request,
                                              const std::string& allowed) {
    auto response = refusal(
        {ErrorCode::invalid_argument, weft::format("The method {} is not possible at {}.",
                                                   request->methodString(), request->path())},
        405);
    response->addHeader("allow", allowed);
    return response;
  }

  // Returns the methods that are allowed at a path: "GET, HEAD" for the page's files.
  std::string allowed_at(std::string_view path) const {
    std::string out;
    for (const auto& [method, pattern] : patterns_) {
      if (matches_pattern(pattern, path) && !out.contains(method))
        out += (out.empty() ? "" : ", ") + (method == "GET" ? "GET, HEAD" : method);
    }
    return out.empty() ? "GET, HEAD" : out;
  }

  // Refuses an invalid request for a WebSocket; the gate has checked everything else.
  drogon::HttpResponsePtr refuse_early(const drogon::HttpRequestPtr& request) {
    const auto socket = sockets_->routes().find(request->path());
    if (socket == sockets_->routes().end()) return nullptr;
    if (request->method() != drogon::Get) return not_possible(request, "GET");
    if (std::string upgrade = request->getHeader("upgrade");
        strcasecmp(upgrade.c_str(), "websocket") != 0) {
      auto response = refusal(
          {ErrorCode::invalid_argument,
           weft::format(
               "{} is a WebSocket: the request must have the header \"Upgrade: websocket\".",
               request->path())},
          426);
      response->addHeader("upgrade", "websocket");
      return response;
    }
    return nullptr;
  }

  // Adds the tokens that the address has left, by draft-ietf-httpapi-ratelimit-headers
  // (docs/http.md).
  void add_rate(const drogon::HttpRequestPtr& request,
                const drogon::HttpResponsePtr& response) const {
    const auto left = gate_.rate_left(
        gate_.address_of(request->peerAddr().toIp(), request->getHeader("x-forwarded-for")), now());
    if (!left) return;
    const Quota address{.name = "address",
                        .limit = static_cast<std::uint64_t>(left->burst),
                        .remaining = static_cast<std::uint64_t>(left->remaining),
                        .window = left->window,
                        .whole_after = left->whole_after};
    const QuotaHeaders headers = quota_headers(std::span(&address, 1));
    const auto put_before = [&](const char* name, const std::string& first) {
      const std::string clients = response->getHeader(name);
      response->addHeader(name, clients.empty() ? first : first + ", " + clients);
    };
    put_before("ratelimit-policy", headers.policy);
    put_before("ratelimit", headers.left);
  }

  std::uint64_t disk_bytes_free() const {
    std::error_code error;
    const auto space = std::filesystem::space(options_.scratch, error);
    return error ? std::numeric_limits<std::uint64_t>::max() : space.available;
  }

  // Called at accept(), before the TLS handshake, because Drogon hears of a connection only after
  // it. A connection over a bound is shut down, which trantor sees as its end.
  void accepted(int descriptor) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    const auto cookie = cookie_of(descriptor);
    if (!cookie || getpeername(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
      return;
    const trantor::InetAddress peer =
        storage.ss_family == AF_INET6
            ? trantor::InetAddress(reinterpret_cast<const sockaddr_in6&>(storage))
            : trantor::InetAddress(reinterpret_cast<const sockaddr_in&>(storage));
    const std::string address = peer.toIp();
    if (!gate_.may_connect(address, now())) return turn_away(descriptor);
    const bool welcome = connections_.with([&](ConnectionTable& table) {
      const auto taken = table.accept(peer.toIpPort(), address_group(address),
                                      {.descriptor = descriptor, .cookie = *cookie},
                                      !gate_.is_trusted_proxy(address), now());
      // The old connection is ended inside the lock, so that its descriptor cannot be closed and
      // reused meanwhile.
      if (taken.ended) end(*taken.ended);
      return taken.welcome;
    });
    if (!welcome) turn_away(descriptor);
  }

  // Closes a connection with a reset, so that no state of it stays in the system.
  static void turn_away(int descriptor) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::shutdown(descriptor, SHUT_RDWR);
  }

  // A descriptor is reused only after its connection's end was handled, which removes it from the
  // table.
  static void end(const ConnectionTable::Socket& socket) {
    if (is_open(socket)) ::shutdown(socket.descriptor, SHUT_RDWR);
  }

  void recognise(const std::string& peer, const std::string& address) {
    connections_.with([&](ConnectionTable& table) { table.recognise(peer); });
    gate_.recognise(address, now());
  }

  IncomingRequest incoming(const drogon::HttpRequestPtr& in, bool with_body) {
    IncomingRequest request = from_drogon(in, with_body, gate_);
    request.recognise = [this, peer = in->peerAddr().toIpPort(), address = request.address] {
      recognise(peer, address);
    };
    request.recognise_client = [this, address = request.address](const std::string& client) {
      gate_.recognise_client(client, address, now());
    };
    return request;
  }

  void end_late_handshakes() {
    const auto late =
        connections_.with([](ConnectionTable& table) { return table.overdue(now()); });
    for (const auto& socket : late) end(socket);
  }

  void register_hooks() {
    auto& app = drogon::app();
    app.setAfterAcceptSockOptCallback([this](int descriptor) { accepted(descriptor); });
    app.setConnectionCallback([this](const trantor::TcpConnectionPtr& connection) {
      const std::string peer = connection->peerAddr().toIpPort();
      const bool connected = connection->connected();
      connections_.with(
          [&](ConnectionTable& table) { connected ? table.ready(peer) : table.gone(peer); });
      if (!connected) return;
      guard_.guard(connection);
      // A verdict and the next lease are two small messages: without TCP_NODELAY the second would
      // wait up to 40 ms for the acknowledgement of the first.
      connection->setTcpNoDelay(true);
    });
    app.registerSyncAdvice(
        [this](const drogon::HttpRequestPtr& request) { return refuse_early(request); });
    app.registerPreSendingAdvice(
        [this](const drogon::HttpRequestPtr& request, const drogon::HttpResponsePtr& response) {
          for (const auto& [name, value] : common_headers) response->addHeader(name, value);
          add_rate(request, response);
          // Drogon does not begin a streamed body if it is to close the connection, so the stream
          // closes it instead.
          if (response->asyncStreamCallback()) response->setCloseConnection(false);
        });
    app.setCustomErrorHandler([this](drogon::HttpStatusCode status,
                                     const drogon::HttpRequestPtr& request) {
      const int code = static_cast<int>(status);
      if (code == 405 && request) return not_possible(request, allowed_at(request->path()));
      const auto what = code == 404   ? ErrorCode::not_found
                        : code == 413 ? ErrorCode::resource_exhausted
                        : code >= 500 ? ErrorCode::internal
                                      : ErrorCode::invalid_argument;
      const std::string path = request ? request->path() : "";
      return to_drogon(problem(
          {what, code == 404 ? weft::format("There is nothing at {}.", path)
                             : weft::format("The request is refused: {}.", reason_phrase(code))},
          code));
    });
    app.setDefaultHandler([this](const drogon::HttpRequestPtr& request, Callback&& callback) {
      const bool known = std::ranges::any_of(patterns_, [&](const auto& pattern) {
        return matches_pattern(pattern.second, request->path());
      });
      if (known || (request->method() != drogon::Get && request->method() != drogon::Head))
        return callback(not_possible(request, allowed_at(request->path())));
      if (request->path().starts_with("/v1/")) {
        return callback(to_drogon(problem(
            {ErrorCode::not_found, weft::format("There is nothing at {}.", request->path())})));
      }
      callback(to_drogon(files_.get(incoming(request, false))));
    });
    app.setExceptionHandler(
        [](const std::exception& error, const drogon::HttpRequestPtr&, Callback&& callback) {
          log_error("A handler threw: {}", error.what());
          callback(to_drogon(
              problem({ErrorCode::internal,
                       "The server failed while it handled this request; its log says why."})));
        });
  }

  QuotasOf quotas_;
  IsKnownClient is_known_client_;
  const Options options_;
  const std::uint16_t port_;
  StaticFiles files_;
  RequestGate gate_;
  ConnectionGuard guard_;
  std::shared_ptr<DrogonSockets> sockets_;
  Guarded<ConnectionTable> connections_;
  std::uint64_t body_bytes_max_ = 1 << 20;  // The largest body bound of all routes.
  std::vector<std::pair<std::string, std::string>>
      patterns_;  // Patterns with the methods that they allow.
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::create(Options options) {
  static std::atomic<bool> made = false;
  WEFT_ASSIGN(const std::uint16_t port, probe_port(options.address, options.port));
  if (options.tls) WEFT_OK(check_certificate(*options.tls));
  if (made.exchange(true))
    return fail(ErrorCode::resource_exhausted, "This process has a server already.");
  set_up_drogon_once();
  let_drogon_complain(true);  // Logged as errors until the server has started.
  return std::make_unique<DrogonServer>(std::move(options), port);
}

bool is_loopback(std::string_view address) {
  const auto parsed = Address::parse(address);
  return address == "localhost" || (parsed && parsed->is_loopback());
}

bool is_address(const std::string& address) { return socket_address(address, 0).has_value(); }

}  // namespace weft::net
