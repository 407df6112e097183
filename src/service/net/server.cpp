#include "service/net/server.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <unistd.h>
#include <utility>

#include <arpa/inet.h>
#include <drogon/HttpAppFramework.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <trantor/net/TcpConnection.h>

#include "common/base/guarded.h"
#include "common/base/log.h"
#include "service/net/drogon_setup.h"
#include "service/net/drogon_sockets.h"
#include "service/net/static_files.h"
#include "service/net/tls.h"

namespace weft::net {

namespace {

using Callback = std::function<void(const drogon::HttpResponsePtr&)>;

// Answers that every page and interface carries: isolation (for precise clocks and shared memory in the browser), and no
// guessing of types.
constexpr std::pair<const char*, const char*> common_headers[] = {
    {"cross-origin-opener-policy", "same-origin"},
    {"cross-origin-embedder-policy", "require-corp"},
    {"cross-origin-resource-policy", "same-origin"},
    {"x-content-type-options", "nosniff"},
    {"referrer-policy", "no-referrer"},
};

bool is_upload_method(const drogon::HttpRequestPtr& request) { return request->method() == drogon::Put; }

IncomingRequest from_drogon(const drogon::HttpRequestPtr& in, bool with_body) {
  IncomingRequest request;
  request.method = in->methodString();
  request.path = in->path();
  request.parameters = in->getRoutingParameters();
  for (const auto& [name, value] : in->parameters()) request.query.emplace(name, value);
  for (const auto& [name, value] : in->headers()) request.headers.emplace(name, value);
  if (with_body) request.body = std::string(in->body());
  request.address = in->peerAddr().toIp();
  request.connected = [connection = in->getConnectionPtr()] {
    const auto alive = connection.lock();
    return alive != nullptr && alive->connected();
  };
  return request;
}

class DrogonStream final : public ReplyStream {
 public:
  explicit DrogonStream(drogon::ResponseStreamPtr stream) : stream_(std::move(stream)) {}
  bool send(const std::string& bytes) override { return stream_->send(bytes); }
  void close() override { stream_->close(); }

 private:
  const drogon::ResponseStreamPtr stream_;
};

drogon::HttpResponsePtr to_drogon(Reply reply) {
  const auto type = reply.headers.find("content-type");
  const std::string content_type = type == reply.headers.end() ? "application/octet-stream" : type->second;
  drogon::HttpResponsePtr response;
  if (reply.stream) {
    response = drogon::HttpResponse::newAsyncStreamResponse(
        [begin = std::move(reply.stream)](drogon::ResponseStreamPtr stream) { begin(std::make_shared<DrogonStream>(std::move(stream))); }, true);
    response->setContentTypeString(content_type);
  } else if (reply.file && reply.file->size > 0) {
    response = drogon::HttpResponse::newFileResponse(reply.file->path.string(), reply.file->offset, reply.file->size, false, "", drogon::CT_CUSTOM,
                                                     content_type);
    if (response->statusCode() != drogon::k200OK && response->statusCode() != drogon::k206PartialContent) {
      return to_drogon(problem({ErrorCode::data_loss, "The stored bytes are not there."}));
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

// (As protocols that are off: a least version would be overwritten by trantor, which sets TLS 1.2.)
const std::vector<std::pair<std::string, std::string>> only_tls_1_3 = {{"Protocol", "-ALL,TLSv1.3"}};

drogon::HttpResponsePtr refusal(const Error& error, int status) {
  auto response = to_drogon(problem(error, status));
  response->setCloseConnection(true);  // The rest of the body may still be on its way.
  return response;
}

// The same as it goes over the wire, for what Drogon does not get to see.
std::string refusal_text(const std::string& sentence) {
  Reply reply = problem({ErrorCode::invalid_argument, sentence});
  for (const auto& [name, value] : common_headers) reply.headers.emplace(name, value);
  std::string out =
      std::format("HTTP/1.1 {} {}\r\nconnection: close\r\ncontent-length: {}\r\n", reply.status, reason_phrase(reply.status), reply.body.size());
  for (const auto& [name, value] : reply.headers) out += std::format("{}: {}\r\n", name, value);
  return out + "\r\n" + reply.body;
}

// Feeds the parts of a body to an Upload, and answers once.
class UploadReader final : public drogon::RequestStreamReader {
 public:
  UploadReader(Result<std::unique_ptr<Upload>> upload, Callback answer) : answer_(std::move(answer)) {
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
      // The answer may come later, from another thread, and needs the upload no more.
      const std::shared_ptr<Upload> upload = std::exchange(upload_, nullptr);
      upload->finish([answer = std::exchange(answer_, nullptr), upload](Reply reply) { answer(to_drogon(std::move(reply))); });
    }
  }

 private:
  void refuse(const Error& error) {
    if (auto upload = std::exchange(upload_, nullptr)) upload->abandon();
    if (auto answer = std::exchange(answer_, nullptr)) {
      answer(refusal(error, error.code == ErrorCode::resource_exhausted ? 413 : http_status(error.code)));
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
    return fail(ErrorCode::invalid_argument, "\"{}\" is no IP address to listen on, such as 127.0.0.1 or 0.0.0.0.", address);
  }
  return result;
}

// A port that is free at `address`, or the one asked for if it is; Drogon itself would end the process where it is taken.
Result<std::uint16_t> probe_port(const std::string& address, std::uint16_t port) {
  WEFT_ASSIGN(SocketAddress at, socket_address(address, port));
  auto& [storage, size] = at;
  const int descriptor = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = descriptor >= 0 && bind(descriptor, reinterpret_cast<const sockaddr*>(&storage), size) == 0 && listen(descriptor, 1) == 0;
  const int reason = errno;
  if (bound) getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size);
  close(descriptor);
  if (!bound && reason == EADDRNOTAVAIL)
    return fail(ErrorCode::invalid_argument, "{} is no address of this machine, so nothing can listen there (--listen).", address);
  if (!bound) {
    return fail(ErrorCode::unavailable, "{} port {} cannot be listened on: {}. Choose another with --listen.", address, port,
                std::generic_category().message(reason));
  }
  return ntohs(storage.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in*>(&storage)->sin_port
                                            : reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
}

// Drogon says that it runs before it listens: whoever is told that the server has started may connect at once.
Result<> wait_until_it_listens(const std::string& address, std::uint16_t port) {
  WEFT_ASSIGN(const SocketAddress at, socket_address(address, port));
  const Instant give_up = now() + std::chrono::seconds(10);
  for (;;) {
    const int descriptor = socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens = descriptor >= 0 && connect(descriptor, reinterpret_cast<const sockaddr*>(&at.storage), at.size) == 0;
    if (descriptor >= 0) close(descriptor);
    if (listens) return {};
    if (now() > give_up) return fail(ErrorCode::unavailable, "The server does not begin to listen on {} port {}.", address, port);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class DrogonServer final : public Server {
 public:
  DrogonServer(Options options, std::uint16_t port)
      : options_(std::move(options)),
        port_(port),
        files_(options_.web, options_.no_web_page),
        sockets_(std::make_shared<DrogonSockets>(options_.ping_every)) {
    if (options_.rate_limit) limit_.with([&](auto& limit) { limit.emplace(*options_.rate_limit); });
  }
  ~DrogonServer() override { stop(); }

  void route(Route route) override {
    patterns_.emplace_back(route.method, route.pattern);
    const auto method = route.method == "POST" ? drogon::Post : route.method == "DELETE" ? drogon::Delete : drogon::Get;
    drogon::app().registerHandlerViaRegex(
        regex(route.pattern),
        [this, handle = std::move(route.handle), cost = route.cost](const drogon::HttpRequestPtr& request, Callback&& callback) {
          if (auto refused = limited(request, cost)) return callback(refused);
          handle(from_drogon(request, true), [callback = std::move(callback)](Reply reply) { callback(to_drogon(std::move(reply))); });
        },
        {method});
  }

  void upload(UploadRoute route) override {
    patterns_.emplace_back("PUT", route.pattern);
    drogon::app().registerHandlerViaRegex(
        regex(route.pattern),
        [this, begin = std::move(route.begin), cost = route.cost](const drogon::HttpRequestPtr& request, drogon::RequestStreamPtr&& stream,
                                                                  Callback&& callback) {
          if (auto refused = limited(request, cost)) {
            stream->setStreamReader(drogon::RequestStreamReader::newNullReader());
            return callback(refused);
          }
          stream->setStreamReader(std::make_shared<UploadReader>(begin(from_drogon(request, false)), std::move(callback)));
        },
        {drogon::Put});
  }

  void socket(SocketRoute route) override { sockets_->add(std::move(route)); }

  Result<> start() override {
    auto& app = drogon::app();
    std::error_code error;
    std::filesystem::create_directories(options_.scratch / "empty", error);
    if (error) return fail(ErrorCode::unavailable, "The folder {} cannot be made: {}.", options_.scratch.string(), error.message());
    app.setUploadPath(options_.scratch.string());
    // Drogon would serve files of the working folder by itself: it gets an empty one, and we do it (static_files.h).
    app.setDocumentRoot((options_.scratch / "empty").string());
    app.setFileTypes({}).setImplicitPageEnable(false);
    app.disableSigtermHandling().enableServerHeader(false).enableGzip(false).enableBrotli(false);
    app.setThreadNum(options_.threads).setMaxConnectionNum(options_.connections_max).setIdleConnectionTimeout(60);
    app.setClientMaxBodySize(std::max<std::uint64_t>(options_.body_bytes_max, options_.upload_bytes_max));
    app.enableRequestStream(true);
    app.enableReusePort(true);  // One listener a thread; that the port is free was tried before.
    if (options_.tls) {
      app.addListener(options_.address, port_, true, options_.tls->certificate.string(), options_.tls->key.string(), false, only_tls_1_3);
    } else {
      app.addListener(options_.address, port_);
    }
    register_hooks();
    drogon::DrClassMap::setSingleInstance(sockets_);
    for (const auto& [path, route] : sockets_->routes()) app.registerWebSocketController(path, DrogonSockets::classTypeName());

    std::promise<void> running;
    app.registerBeginningAdvice([this, &running] {
      // Once around in a quarter of the time, a hundredth of the peers after the other.
      const double around = seconds(options_.ping_every) / 4;
      const double every = std::max(around / 100, 0.005);
      drogon::app().getLoop()->runEvery(every, [sockets = sockets_, share = std::min(every / around, 1.0)] { sockets->keep_alive(now(), share); });
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
    return std::format("{}://{}{}{}:{}", options_.tls ? "https" : "http", v6 ? "[" : "", options_.address, v6 ? "]" : "", port_);
  }

 private:
  // "/v1/jobs/{}" as a regular expression. (Drogon's own placeholders must be arguments of the handler, one by one.)
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

  static bool matches(std::string_view pattern, std::string_view path) {
    while (!pattern.empty() && !path.empty()) {
      if (pattern.starts_with("{}")) {
        pattern.remove_prefix(2);
        path.remove_prefix(std::min(path.find('/'), path.size()));
      } else if (pattern.front() == path.front()) {
        pattern.remove_prefix(1);
        path.remove_prefix(1);
      } else {
        return false;
      }
    }
    return path.empty() && (pattern.empty() || pattern == "{}");
  }

  drogon::HttpResponsePtr limited(const drogon::HttpRequestPtr& request, double cost) {
    if (cost <= 0) return nullptr;
    const bool taken = limit_.with([&](auto& limit) { return !limit || limit->take(request->peerAddr().toIp(), cost, now()); });
    if (taken) return nullptr;
    return refusal({ErrorCode::resource_exhausted,
                    "Too many requests from this address; try again in a second (--rate-limit on the coordinator raises the bound)."},
                   429);
  }

  static drogon::HttpResponsePtr not_possible(const drogon::HttpRequestPtr& request, const std::string& allowed) {
    auto response = refusal({ErrorCode::invalid_argument, std::format("{} is not possible at {}.", request->methodString(), request->path())}, 405);
    response->addHeader("allow", allowed);
    return response;
  }

  // The methods that are possible at a path: "GET, HEAD" for the page's files.
  std::string allowed_at(std::string_view path) const {
    std::string out;
    for (const auto& [method, pattern] : patterns_) {
      if (matches(pattern, path) && !out.contains(method)) out += (out.empty() ? "" : ", ") + (method == "GET" ? "GET, HEAD" : method);
    }
    return out.empty() ? "GET, HEAD" : out;
  }

  // Bounds and rules that hold for every request, before anything of its body is taken.
  drogon::HttpResponsePtr refuse_early(const drogon::HttpRequestPtr& request) {
    const auto socket = sockets_->routes().find(request->path());
    if (socket != sockets_->routes().end()) {
      // A foreign page must not make a visitor's browser work for a coordinator that only that browser reaches.
      const auto& origin = request->getHeader("origin");
      const auto separator = origin.find("://");
      if (!origin.empty() && (separator == std::string::npos || origin.substr(separator + 3) != request->getHeader("host"))) {
        return refusal({ErrorCode::permission_denied, "Pages of other origins may not connect here."}, 403);
      }
      if (request->method() != drogon::Get) return not_possible(request, "GET");
      if (std::string upgrade = request->getHeader("upgrade"); strcasecmp(upgrade.c_str(), "websocket") != 0) {
        auto response = refusal({ErrorCode::invalid_argument, std::format("{} is a WebSocket.", request->path())}, 426);
        response->addHeader("upgrade", "websocket");
        return response;
      }
      return limited(request, socket->second.cost);
    }
    if (is_upload_method(request)) return nullptr;
    if (!request->getHeader("transfer-encoding").empty()) {
      return refusal({ErrorCode::invalid_argument, "The request does not say how long it is (Content-Length)."}, 411);
    }
    const std::uint64_t length = std::strtoull(request->getHeader("content-length").c_str(), nullptr, 10);
    if (length > options_.body_bytes_max) {
      return refusal(
          {ErrorCode::resource_exhausted, std::format("The body has {} bytes; at most {} are taken here.", length, options_.body_bytes_max)}, 413);
    }
    return nullptr;
  }

  void register_hooks() {
    auto& app = drogon::app();
    app.setConnectionCallback([this](const trantor::TcpConnectionPtr& connection) {
      if (!connection->connected()) return;
      guard(connection, {.send_bytes_max = options_.send_queue_bytes_max,
                         .receive_bytes_max = drogon_message_bytes_max + (std::size_t{64} << 10),
                         .refusal = refusal_text});
      // A verdict and the next lease are two small messages: the second would wait for the acknowledgement of the first, up to 40 ms.
      connection->setTcpNoDelay(true);
    });
    app.registerSyncAdvice([this](const drogon::HttpRequestPtr& request) { return refuse_early(request); });
    app.registerPreSendingAdvice([](const drogon::HttpRequestPtr&, const drogon::HttpResponsePtr& response) {
      for (const auto& [name, value] : common_headers) response->addHeader(name, value);
    });
    app.setCustomErrorHandler([this](drogon::HttpStatusCode status, const drogon::HttpRequestPtr& request) {
      const int code = static_cast<int>(status);
      if (code == 405 && request) return not_possible(request, allowed_at(request->path()));
      const auto what = code == 404   ? ErrorCode::not_found
                        : code == 413 ? ErrorCode::resource_exhausted
                        : code >= 500 ? ErrorCode::internal
                                      : ErrorCode::invalid_argument;
      const std::string path = request ? request->path() : "";
      return to_drogon(problem(
          {what, code == 404 ? std::format("There is nothing at {}.", path) : std::format("The request is refused: {}.", reason_phrase(code))},
          code));
    });
    app.setDefaultHandler([this](const drogon::HttpRequestPtr& request, Callback&& callback) {
      const bool known = std::ranges::any_of(patterns_, [&](const auto& pattern) { return matches(pattern.second, request->path()); });
      if (known || (request->method() != drogon::Get && request->method() != drogon::Head))
        return callback(not_possible(request, allowed_at(request->path())));
      if (request->path().starts_with("/v1/")) {
        return callback(to_drogon(problem({ErrorCode::not_found, std::format("There is nothing at {}.", request->path())})));
      }
      callback(to_drogon(files_.get(from_drogon(request, false))));
    });
    app.setExceptionHandler([](const std::exception& error, const drogon::HttpRequestPtr&, Callback&& callback) {
      log_error("A handler threw: {}", error.what());
      callback(to_drogon(problem({ErrorCode::internal, "Something failed inside the coordinator."})));
    });
  }

  const Options options_;
  const std::uint16_t port_;
  StaticFiles files_;
  Guarded<std::optional<RateLimit>> limit_;
  std::shared_ptr<DrogonSockets> sockets_;
  std::vector<std::pair<std::string, std::string>> patterns_;  // Methods and what they are possible at.
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::create(Options options) {
  static std::atomic<bool> made = false;
  WEFT_ASSIGN(const std::uint16_t port, probe_port(options.address, options.port));
  if (options.tls) WEFT_OK(check_certificate(*options.tls));
  if (made.exchange(true)) return fail(ErrorCode::resource_exhausted, "This process has a server already.");
  set_up_drogon_once();
  let_drogon_complain(true);  // Until it has started.
  return std::make_unique<DrogonServer>(std::move(options), port);
}

bool is_loopback(std::string_view address) { return address == "::1" || address.starts_with("127.") || address == "localhost"; }

bool is_address(const std::string& address) { return socket_address(address, 0).has_value(); }

}  // namespace weft::net
