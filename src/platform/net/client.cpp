#include "platform/net/client.h"

#include <charconv>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <unistd.h>
#include <vector>

#include <drogon/HttpClient.h>
#include <drogon/WebSocketClient.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <trantor/net/Channel.h>
#include <trantor/net/EventLoopThread.h>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/visible_text.h"
#include "platform/net/drogon_setup.h"
#include "platform/net/on_loop.h"
#include "platform/net/tls.h"

namespace weft::net {

namespace {

constexpr std::size_t requests_waiting_max = 4096;
constexpr double close_patience_s = 2;  // Time for the peer to answer a close.

std::vector<std::pair<std::string, std::string>> tls_commands(const TlsOptions& tls) {
  if (tls.ca_cert.empty()) return {};
  return {{"VerifyCAFile", tls.ca_cert}};
}

Error error_of_result(drogon::ReqResult result, const Url& url) {
  using enum drogon::ReqResult;
  switch (result) {
    case Timeout:
      return {ErrorCode::deadline_exceeded, weft::format("{} did not answer in time.", url.text())};
    case BadServerAddress:
      return {ErrorCode::unavailable, weft::format("Nothing answers at {}.", url.text())};
    case InvalidCertificate:
      return {ErrorCode::unauthenticated,
              weft::format("The certificate of {} is not trusted: give its authority with "
                           "--ca-cert, or --tls-insecure to take any.",
                           url.text())};
    case HandshakeError:
    case EncryptionFailure:
      return {ErrorCode::unavailable,
              weft::format("The TLS handshake with {} failed; if the server does not use TLS, its "
                           "address begins with http://.",
                           url.text())};
    case BadResponse:
      return {ErrorCode::unsupported,
              weft::format("{} sends an answer that is not HTTP.", url.text())};
    default:
      return {ErrorCode::unavailable, weft::format("The connection to {} broke.", url.text())};
  }
}

// Turns off Nagle's algorithm (TCP_NODELAY): a hop of a chain that waits for the acknowledgement of
// the previous message takes ten times as long. Drogon gives no access to its client's socket, so
// the socket is found by its address, unless the process has so many descriptors that the search
// would take long.
void send_at_once(const trantor::InetAddress& local) {
  constexpr int descriptors_max = 512;
  const int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (lowest_free >= 0) close(lowest_free);
  if (lowest_free < 0 || lowest_free > descriptors_max) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    int descriptor = -1;
    const std::string name = entry.path().filename().string();
    if (std::from_chars(name.data(), name.data() + name.size(), descriptor).ec != std::errc())
      continue;
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) != 0) continue;
    const bool same =
        own.ss_family == AF_INET6
            ? trantor::InetAddress(reinterpret_cast<const sockaddr_in6&>(own)).toIpPort() ==
                  local.toIpPort()
        : own.ss_family == AF_INET
            ? trantor::InetAddress(reinterpret_cast<const sockaddr_in&>(own)).toIpPort() ==
                  local.toIpPort()
            : false;
    const int on = 1;
    if (same) setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
}

drogon::HttpMethod method_of(std::string_view name) {
  if (name == "PUT") return drogon::Put;
  if (name == "POST") return drogon::Post;
  if (name == "DELETE") return drogon::Delete;
  if (name == "HEAD") return drogon::Head;
  return drogon::Get;
}

drogon::HttpRequestPtr to_drogon(const Request& request) {
  auto out = drogon::HttpRequest::newHttpRequest();
  out->setMethod(method_of(request.method));
  const auto query = request.path.find('?');
  out->setPathEncode(false);
  out->setPath(request.path.substr(0, query));
  if (query != std::string::npos) {
    std::string_view rest = std::string_view(request.path).substr(query + 1);
    while (!rest.empty()) {
      const auto end = rest.find('&');
      const auto pair = rest.substr(0, end);
      const auto equals = pair.find('=');
      out->setParameter(
          std::string(pair.substr(0, equals)),
          equals == std::string_view::npos ? "" : std::string(pair.substr(equals + 1)));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  for (const auto& [name, value] : request.headers) {
    if (name == "content-type") {
      out->setContentTypeString(value);
    } else {
      out->addHeader(name, value);
    }
  }
  out->setBody(request.body);
  return out;
}

Response from_drogon(const drogon::HttpResponsePtr& in) {
  Response response;
  response.status = static_cast<int>(in->statusCode());
  for (const auto& [name, value] : in->headers()) response.headers.emplace(name, value);
  response.body = in->body();
  return response;
}

class DrogonSocket final : public Socket, public std::enable_shared_from_this<DrogonSocket> {
 public:
  DrogonSocket(trantor::EventLoop* loop, const Client::Options& options, Url url,
               SocketHandlers handlers)
      : loop_(loop), options_(options), url_(std::move(url)), handlers_(std::move(handlers)) {}

  // Drogon does not report why a WebSocket's handshake fails.
  std::string why_closed() const {
    if (connection_ && !close_reason_.empty())
      return weft::format("{} closed the connection: {}", url_.text(), close_reason_);
    if (connection_) return weft::format("{} closed the connection.", url_.text());
    if (!url_.tls)
      return weft::format(
          "{} closed the connection before it began; if the server uses TLS, its address begins "
          "with https://.",
          url_.text());
    return weft::format(
        "The TLS handshake with {} failed: its certificate may not be trusted (--ca-cert gives its "
        "authority), or the server does not use TLS (http://).",
        url_.text());
  }

  // Drogon reports a refused connection and one that is accepted and then closed with one result,
  // and all answers that do not begin a WebSocket with another.
  Error why_not_opened(drogon::ReqResult result) const {
    if (result == drogon::ReqResult::NetworkFailure)
      return {ErrorCode::unavailable,
              weft::format("A connection to {} cannot be opened.", url_.text())};
    if (result == drogon::ReqResult::BadResponse)
      return {ErrorCode::unavailable,
              weft::format("{} does not accept the WebSocket connection.", url_.text())};
    return error_of_result(result, url_);
  }

  void start(std::string path) {
    auto self = shared_from_this();
    client_ = drogon::WebSocketClient::newWebSocketClient(
        weft::format("{}://{}", url_.tls ? "wss" : "ws", url_.text().substr(url_.tls ? 8 : 7)),
        loop_, false, !options_.tls.insecure);
    client_->addSSLConfigs(tls_commands(options_.tls));
    client_->setMessageHandler(
        [self](std::string&& message, const drogon::WebSocketClientPtr&,
               const drogon::WebSocketMessageType& type) { self->hear(std::move(message), type); });
    client_->setConnectionClosedHandler([self](const drogon::WebSocketClientPtr&) {
      self->finish({ErrorCode::unavailable, self->why_closed()});
    });
    auto request = drogon::HttpRequest::newHttpRequest();
    request->setPath(std::move(path));
    client_->connectToServer(request,
                             [self](drogon::ReqResult result, const drogon::HttpResponsePtr&,
                                    const drogon::WebSocketClientPtr& client) {
                               if (self->ended_) return;
                               if (result != drogon::ReqResult::Ok)
                                 return self->finish(self->why_not_opened(result));
                               self->connection_ = client->getConnection();
                               send_at_once(self->connection_->localAddr());
                               self->heard_ = now();
                               self->watch();
                               if (self->handlers_.open) self->handlers_.open();
                             });
    // watch() bounds the wait for a server that accepts the connection and then sends nothing.
    watch();
  }

  void send_text(std::string text) override {
    send(std::move(text), drogon::WebSocketMessageType::Text);
  }
  void send_binary(ByteVector bytes) override {
    send(std::string(as_text(bytes)), drogon::WebSocketMessageType::Binary);
  }

  void close() override {
    on_loop(loop_, [self = shared_from_this()] {
      if (self->ended_) return;
      if (!self->connection_)
        return self->finish({ErrorCode::cancelled, "The connection was closed before it opened."});
      self->connection_->shutdown();
      self->loop_->runAfter(close_patience_s,
                            [self] { self->finish({ErrorCode::cancelled, "Closed."}); });
    });
  }

  // Called on the loop's thread when the client is destroyed: ends without calling the handlers.
  void drop() {
    ended_ = true;
    handlers_ = {};
    let_go();
  }

 private:
  void send(std::string bytes, drogon::WebSocketMessageType type) {
    on_loop(loop_, [self = shared_from_this(), bytes = std::move(bytes), type] {
      if (!self->ended_ && self->connection_) self->connection_->send(bytes, type);
    });
  }

  void hear(std::string message, drogon::WebSocketMessageType type) {
    if (ended_) return;
    heard_ = now();
    if (message.size() > options_.message_bytes_max) {
      return finish({ErrorCode::resource_exhausted,
                     weft::format("The message has {} bytes; at most {} are allowed.",
                                  message.size(), options_.message_bytes_max)});
    }
    if (type == drogon::WebSocketMessageType::Text) {
      if (handlers_.text) handlers_.text(std::move(message));
    } else if (type == drogon::WebSocketMessageType::Binary) {
      if (handlers_.binary) handlers_.binary(ByteVector(message.begin(), message.end()));
    } else if (type == drogon::WebSocketMessageType::Close) {
      constexpr std::size_t code_bytes = 2;  // The reason follows the code.
      if (message.size() > code_bytes) close_reason_ = visible_text(message.substr(code_bytes));
    }
  }

  void watch() {
    if (watching_) return;
    watching_ = true;
    loop_->runAfter(seconds(options_.silence_max) / 4, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self || self->ended_) return;
      self->watching_ = false;
      if (now() - self->heard_ > self->options_.silence_max) {
        return self->finish({ErrorCode::deadline_exceeded,
                             weft::format("Nothing was heard from {} for {:.0f} s.",
                                          self->url_.text(), seconds(self->options_.silence_max))});
      }
      self->watch();
    });
  }

  void finish(Error why) {
    if (ended_) return;
    ended_ = true;
    auto handlers = std::exchange(handlers_, {});
    let_go();
    if (handlers.closed) handlers.closed(std::move(why));
  }

  // Stops Drogon's client, which would otherwise reconnect by itself, and releases its handlers,
  // which hold this object. The work is queued because it must not run inside a handler.
  void let_go() {
    on_loop(loop_, [client = std::move(client_), connection = std::move(connection_)] {
      if (!client) return;
      client->stop();
      if (connection && connection->connected()) connection->forceClose();
      client->setMessageHandler([](std::string&&, const drogon::WebSocketClientPtr&,
                                   const drogon::WebSocketMessageType&) {});
      client->setConnectionClosedHandler([](const drogon::WebSocketClientPtr&) {});
    });
    client_.reset();
    connection_.reset();
  }

  trantor::EventLoop* loop_;
  const Client::Options options_;
  const Url url_;
  SocketHandlers handlers_;
  drogon::WebSocketClientPtr client_;
  drogon::WebSocketConnectionPtr connection_;
  Instant heard_ = now();
  std::string close_reason_;  // The sentence with which the server closes, if it sends one.
  bool watching_ = false;
  bool ended_ = false;
};

// Runs work in the next turn of a loop, on the loop's thread. An eventfd, which the loop polls with
// its connections, starts the work.
class Turns {
 public:
  explicit Turns(trantor::EventLoop* loop)
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), channel_(loop, event_) {
    check(event_ >= 0, "there is a descriptor left for the client's loop");
    channel_.setReadCallback([this] { run(); });
    channel_.enableReading();
  }
  Turns(const Turns&) = delete;
  ~Turns() {
    channel_.disableAll();
    channel_.remove();
    ::close(event_);
  }
  void add(std::function<void()> work) {
    works_.push_back(std::move(work));
    (void)::eventfd_write(event_, 1);
  }

 private:
  void run() {
    eventfd_t count = 0;
    (void)::eventfd_read(event_, &count);
    for (const auto& work : std::exchange(works_, {})) work();
  }

  const int event_;
  trantor::Channel channel_;
  std::vector<std::function<void()>> works_;
};

// All state of the loop's thread. Callbacks hold weak references to it, so that no callback keeps
// it alive after the client.
struct Core : std::enable_shared_from_this<Core> {
  struct Waiting {
    Request request;
    Client::Answer answer;
    bool retried = false;
  };
  struct Lane {
    drogon::HttpClientPtr client;
    bool busy = false;
  };

  Client::Options options;
  Url url;
  trantor::EventLoop* loop = nullptr;
  std::vector<Lane> lanes;
  std::deque<Waiting> waiting;
  std::vector<std::weak_ptr<DrogonSocket>> sockets;
  bool ending = false;           // The client is being destroyed: no new requests or answers.
  std::unique_ptr<Turns> turns;  // Made at the first use.

  void add(Waiting item) {
    if (ending) return;
    if (waiting.size() >= requests_waiting_max) {
      return item.answer(fail(ErrorCode::resource_exhausted, "{} requests wait for {} already.",
                              waiting.size(), url.text()));
    }
    waiting.push_back(std::move(item));
    dispatch();
  }

  void dispatch() {
    for (std::size_t i = 0; i < lanes.size() && !waiting.empty(); ++i) {
      if (lanes[i].busy) continue;
      auto item = std::make_shared<Waiting>(std::move(waiting.front()));
      waiting.pop_front();
      lanes[i].busy = true;
      if (!lanes[i].client) {
        lanes[i].client =
            drogon::HttpClient::newHttpClient(url.text(), loop, false, !options.tls.insecure);
        lanes[i].client->setUserAgent("weft");
        lanes[i].client->addSSLConfigs(tls_commands(options.tls));
      }
      lanes[i].client->sendRequest(
          to_drogon(item->request),
          [weak = weak_from_this(), i, item](drogon::ReqResult result,
                                             const drogon::HttpResponsePtr& response) {
            if (auto self = weak.lock(); self && !self->ending)
              self->answered(i, *item, result, response);
          },
          seconds(item->request.timeout));
    }
  }

  void answered(std::size_t lane, Waiting& item, drogon::ReqResult result,
                const drogon::HttpResponsePtr& response) {
    lanes[lane].busy = false;
    if (result != drogon::ReqResult::Ok) {
      // A connection that failed or still owes an answer is not used again. The loop destroys it
      // later, because this code runs in a callback of that connection.
      on_loop(loop, [old = std::move(lanes[lane].client)] {});
      lanes[lane].client.reset();
    }
    // The server may close a kept connection just as a request is sent on it, so a request that may
    // be repeated is sent once more.
    if (result == drogon::ReqResult::NetworkFailure && !item.retried &&
        item.request.method != "POST") {
      item.retried = true;
      waiting.push_front(std::move(item));
      return dispatch();
    }
    if (result == drogon::ReqResult::Ok) {
      item.answer(from_drogon(response));
    } else {
      item.answer(std::unexpected(error_of_result(result, url)));
    }
    dispatch();
  }
};

class DrogonClient final : public Client {
 public:
  DrogonClient(Options options, Url url) : thread_("weft-client"), url_(std::move(url)) {
    thread_.run();
    core_ = std::make_shared<Core>();
    core_->lanes.resize(std::max<std::size_t>(options.connections, 1));
    core_->options = std::move(options);
    core_->url = url_;
    core_->loop = thread_.getLoop();
  }

  ~DrogonClient() override {
    std::promise<void> gone;
    on_loop(thread_.getLoop(), [core = core_, &gone]() mutable {
      core->ending = true;
      for (const auto& weak : core->sockets) {
        if (auto socket = weak.lock()) socket->drop();
      }
      auto* loop = core->loop;
      core->turns.reset();
      auto lanes = std::exchange(core->lanes, {});
      const auto waiting = std::exchange(core->waiting, {});
      lanes.clear();
      // Runs after the work that drop() queued.
      on_loop(loop, [&gone] { gone.set_value(); });
    });
    gone.get_future().wait();
  }

  void send(Request request, Answer answer) override {
    on_loop(thread_.getLoop(),
            [core = core_, request = std::move(request), answer = std::move(answer)]() mutable {
              core->add({.request = std::move(request), .answer = std::move(answer)});
            });
  }

  Result<Response> send_now(Request request) override {
    check(!thread_.getLoop()->isInLoopThread(),
          "send_now() on the client's own thread would wait for itself");
    std::promise<Result<Response>> answer;
    auto future = answer.get_future();
    send(std::move(request),
         [&answer](Result<Response> response) { answer.set_value(std::move(response)); });
    return future.get();
  }

  std::shared_ptr<Socket> connect(std::string path, SocketHandlers handlers) override {
    auto socket = std::make_shared<DrogonSocket>(thread_.getLoop(), core_->options, url_,
                                                 std::move(handlers));
    on_loop(thread_.getLoop(), [core = core_, socket, path = std::move(path)]() mutable {
      if (core->ending) return;
      std::erase_if(core->sockets, [](const auto& weak) { return weak.expired(); });
      core->sockets.push_back(socket);
      socket->start(std::move(path));
    });
    return socket;
  }

  void post(std::function<void()> work) override {
    on_loop(thread_.getLoop(), [weak = std::weak_ptr(core_), work = std::move(work)] {
      if (const auto core = weak.lock(); core && !core->ending) work();
    });
  }

  void after(Duration delay, std::function<void()> work) override {
    thread_.getLoop()->runAfter(seconds(delay),
                                [weak = std::weak_ptr(core_), work = std::move(work)] {
                                  if (const auto core = weak.lock(); core && !core->ending) work();
                                });
  }

  void next_turn(std::function<void()> work) override {
    check(thread_.getLoop()->isInLoopThread(), "next_turn() is called on the client's thread");
    if (core_->ending) return;
    if (!core_->turns) core_->turns = std::make_unique<Turns>(core_->loop);
    core_->turns->add(std::move(work));
  }

  const Url& url() const override { return url_; }

 private:
  trantor::EventLoopThread thread_;
  const Url url_;
  std::shared_ptr<Core> core_;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::create(Options options) {
  WEFT_ASSIGN(auto url, Url::parse(options.url));
  if (!options.tls.ca_cert.empty()) WEFT_OK(check_authority(options.tls.ca_cert));
  set_up_drogon_once();
  return std::make_unique<DrogonClient>(std::move(options), std::move(url));
}

}  // namespace weft::net
