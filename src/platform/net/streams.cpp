#include "platform/net/streams.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <netdb.h>
#include <unistd.h>
#include <utility>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpClient.h>
#include <trantor/net/TcpServer.h>

#include "common/base/format.h"
#include "platform/net/on_loop.h"
#include "platform/net/tls.h"

namespace weft::net {
namespace {

const std::vector<std::pair<std::string, std::string>> tls_commands{{"MinProtocol", "TLSv1.3"}};

// Converts a fingerprint to 64 lower-case hex digits, without the TLS library's separators.
std::string plain(std::string_view fingerprint) {
  std::string out;
  for (const char c : fingerprint) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool v6 = false;
};
std::optional<Address> numeric(const std::string& text, std::uint16_t port) {
  Address out;
  auto* four = reinterpret_cast<sockaddr_in*>(&out.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    out.size = sizeof *four;
  } else if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    out.size = sizeof *six;
    out.v6 = true;
  } else {
    return std::nullopt;
  }
  return out;
}

// Closes a connection. Queued, because a callback of the connection continues to use it.
void cut(const trantor::TcpConnectionPtr& connection) {
  connection->getLoop()->queueInLoop([connection] { connection->forceClose(); });
}

class TlsStream final : public Stream, public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(trantor::TcpConnectionPtr connection, std::shared_ptr<trantor::TcpClient> dialled)
      : connection_(std::move(connection)),
        dialled_(std::move(dialled)),
        peer_(connection_->peerAddr().toIpPort()) {
    connection_->setTcpNoDelay(true);
    connection_->setHighWaterMarkCallback(
        [](const trantor::TcpConnectionPtr& slow, std::size_t) { cut(slow); }, send_bytes_max);
  }
  ~TlsStream() override { let_go(); }

  void listen(StreamEvents events) override {
    events_ = std::move(events);
    if (early_.empty() && !ended_) return;
    on_loop(connection_->getLoop(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      if (const auto early = std::exchange(self->early_, {}); !early.empty()) self->hear(early);
      if (self->ended_) self->end();
    });
  }
  void send(ByteSpan bytes) override {
    if (!ended_) connection_->send(bytes.data(), bytes.size());
  }
  void close() override {
    events_ = {};
    let_go();
  }
  const std::string& peer() const override { return peer_; }

  // The connection's callbacks call this function.
  void hear(ByteSpan bytes) {
    if (!events_.bytes || !early_.empty()) {
      constexpr std::size_t early_max = std::size_t{64} << 10;
      if (early_.size() + bytes.size() > early_max) return cut(connection_);
      return append(early_, bytes);
    }
    const auto take = events_.bytes;  // Copied: the call may close this stream.
    take(bytes);
  }
  void end() {
    ended_ = true;
    if (const auto closed = std::exchange(events_, {}).closed) closed();
  }

 private:
  void let_go() {
    if (std::exchange(let_go_, true)) return;
    connection_->setRecvMsgCallback([](const trantor::TcpConnectionPtr&,
                                       trantor::MsgBuffer* buffer) { buffer->retrieveAll(); });
    connection_->shutdown();
    // A peer that does not answer the close is disconnected; the TcpClient outlives its connection.
    connection_->getLoop()->runAfter(1.0,
                                     [connection = connection_, dialled = std::move(dialled_)] {
                                       if (connection->connected()) connection->forceClose();
                                     });
  }

  const trantor::TcpConnectionPtr connection_;
  std::shared_ptr<trantor::TcpClient> dialled_;
  const std::string peer_;
  StreamEvents events_;
  ByteVector early_;
  bool ended_ = false;
  bool let_go_ = false;
};

// A connection's context points to its stream weakly, because the stream's user owns it.
using Known = std::weak_ptr<TlsStream>;
std::shared_ptr<TlsStream> stream_of(const trantor::TcpConnectionPtr& connection) {
  return connection->hasContext() ? connection->getContext<Known>()->lock() : nullptr;
}
std::shared_ptr<TlsStream> make_stream(const trantor::TcpConnectionPtr& connection,
                                       std::shared_ptr<trantor::TcpClient> dialled) {
  auto stream = std::make_shared<TlsStream>(connection, std::move(dialled));
  connection->setContext(std::make_shared<Known>(stream));
  return stream;
}
void receive(const trantor::TcpConnectionPtr& connection, trantor::MsgBuffer* buffer) {
  const ByteVector bytes(buffer->peek(), buffer->peek() + buffer->readableBytes());
  buffer->retrieveAll();
  if (const auto stream = stream_of(connection)) stream->hear(bytes);
}

class TlsListener final : public StreamListener {
 public:
  TlsListener(trantor::EventLoop* loop, const trantor::InetAddress& address, const TlsFiles& files,
              std::string fingerprint, std::size_t connections_max,
              std::function<void(std::shared_ptr<Stream>)> taken)
      : server_(std::make_shared<trantor::TcpServer>(loop, address, "weft lines")),
        fingerprint_(std::move(fingerprint)),
        taken_(std::move(taken)) {
    auto policy =
        trantor::TLSPolicy::defaultServerPolicy(files.certificate.string(), files.key.string());
    policy->setConfCmds(tls_commands);
    server_->enableSSL(std::move(policy));
    server_->setConnectionCallback(
        [this, connections_max](const trantor::TcpConnectionPtr& connection) {
          if (!connection->connected()) {
            if (connection->hasContext()) --connections_;
            if (const auto stream = stream_of(connection)) stream->end();
            return;
          }
          if (connections_ >= connections_max) return cut(connection);
          ++connections_;
          taken_(make_stream(connection, nullptr));
        });
    server_->setRecvMessageCallback(receive);
    server_->start();
  }
  ~TlsListener() override {
    server_->setConnectionCallback([](const trantor::TcpConnectionPtr&) {});
    server_->stop();
    // Connections in the middle of their handshake are not stopped by stop() and point to the
    // server.
    constexpr double handshake_max_s = 5;
    server_->getLoop()->runAfter(handshake_max_s, [server = server_] {});
  }

  std::uint16_t port() const override { return server_->address().toPort(); }
  const std::string& fingerprint() const override { return fingerprint_; }

 private:
  const std::shared_ptr<trantor::TcpServer> server_;
  const std::string fingerprint_;
  const std::function<void(std::shared_ptr<Stream>)> taken_;
  std::size_t connections_ = 0;
};

// Returns a port that can be bound; checked here because trantor ends the process if the address is
// taken.
Result<std::uint16_t> free_port(const std::string& text, const Address& address,
                                std::uint16_t port) {
  const int descriptor = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  const bool done =
      descriptor >= 0 &&
      bind(descriptor, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0 &&
      listen(descriptor, 1) == 0 &&
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
  const int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!done)
    return fail(ErrorCode::unavailable, "Nothing can listen at {} port {}: {}.", text, port,
                std::strerror(why));
  return ntohs(address.v6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                          : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

Result<std::unique_ptr<StreamListener>> StreamListener::create(
    Options options, std::function<void(std::shared_ptr<Stream>)> taken) {
  trantor::EventLoop* loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  if (loop == nullptr)
    return fail(ErrorCode::internal, "A listener can be made only on the thread of a client.");
  const auto address = numeric(options.address, options.port);
  if (!address)
    return fail(
        ErrorCode::invalid_argument,
        "{} is not an address to listen at: it must be numeric, such as 192.168.1.5 or ::1.",
        options.address);
  WEFT_ASSIGN(const std::uint16_t port, free_port(options.address, *address, options.port));
  std::string folder = (options.scratch / "line-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return fail(ErrorCode::unavailable,
                "A folder for the certificate of a direct line cannot be made in {}.",
                options.scratch.string());
  auto files = self_signed(folder, {"weft-line"}, unix_now());
  std::unique_ptr<TlsListener> listener;
  if (files) {
    auto fingerprint = fingerprint_of(*files);
    if (!fingerprint) {
      files = std::unexpected(fingerprint.error());
    } else {
      listener = std::make_unique<TlsListener>(
          loop, trantor::InetAddress(options.address, port, address->v6), *files,
          plain(*fingerprint), options.connections_max, std::move(taken));
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);  // The key was read and must not be read again.
  if (!files) return std::unexpected(files.error());
  return listener;
}

void dial(const DialOptions& options, std::function<void(Result<std::shared_ptr<Stream>>)> done) {
  trantor::EventLoop* loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const auto address = numeric(options.address, options.port);
  if (loop == nullptr || !address) {
    const Error why{ErrorCode::invalid_argument,
                    weft::format("{} is not a numeric address to connect to.", options.address)};
    if (loop == nullptr) return done(std::unexpected(why));
    return on_loop(loop, [done = std::move(done), why] { done(std::unexpected(why)); });
  }
  // A pending dial(). The connection, an error or the timer decides it once.
  struct Attempt {
    std::function<void(Result<std::shared_ptr<Stream>>)> done;
    std::shared_ptr<trantor::TcpClient> client;
  };
  const auto attempt =
      std::make_shared<Attempt>(Attempt{.done = std::move(done), .client = nullptr});
  const auto decide = [loop,
                       weak = std::weak_ptr(attempt)](Result<std::shared_ptr<Stream>> stream) {
    const auto self = weak.lock();
    if (!self || !self->done) return;
    const auto tell = std::exchange(self->done, nullptr);
    // The client must not be destroyed inside its own callback.
    if (!stream) loop->queueInLoop([client = std::exchange(self->client, nullptr)] {});
    tell(std::move(stream));
  };
  const std::string where = weft::format("{}:{}", options.address, options.port);
  attempt->client = std::make_shared<trantor::TcpClient>(
      loop, trantor::InetAddress(options.address, options.port, address->v6), "weft line");
  auto policy = trantor::TLSPolicy::defaultClientPolicy();
  policy->setValidate(false).setConfCmds(
      tls_commands);  // Not a certificate chain but the fingerprint is checked, which is stricter.
  attempt->client->enableSSL(std::move(policy));
  attempt->client->setMessageCallback(receive);
  attempt->client->setConnectionErrorCallback(
      [decide, where] { decide(fail(ErrorCode::unavailable, "Nothing answers at {}.", where)); });
  attempt->client->setSSLErrorCallback([decide, where](trantor::SSLError) {
    decide(fail(ErrorCode::unavailable, "The TLS handshake with {} failed.", where));
  });
  attempt->client->setConnectionCallback([decide, where, fingerprint = options.fingerprint,
                                          weak = std::weak_ptr(attempt)](
                                             const trantor::TcpConnectionPtr& connection) {
    if (!connection->connected()) {
      if (const auto stream = stream_of(connection)) stream->end();
      return decide(fail(ErrorCode::unavailable, "{} closed the connection.", where));
    }
    const auto self = weak.lock();
    if (!self || !self->done) return cut(connection);
    const auto certificate = connection->peerCertificate();
    if (!certificate || plain(certificate->sha256Fingerprint()) != plain(fingerprint)) {
      decide(fail(ErrorCode::unauthenticated,
                  "Another program answers at {}: the certificate is not the one that was named.",
                  where));
      return cut(connection);
    }
    decide(std::shared_ptr<Stream>(make_stream(connection, std::exchange(self->client, nullptr))));
  });
  attempt->client->connect();
  // The timer keeps the attempt alive until then.
  loop->runAfter(seconds(options.patience), [attempt, decide, where] {
    decide(fail(ErrorCode::unavailable, "Nothing answers at {} in time.", where));
  });
}

std::string address_towards(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return {};
  std::string out;
  for (const addrinfo* one = found; one != nullptr && out.empty(); one = one->ai_next) {
    const int descriptor = socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_storage mine{};
    socklen_t size = sizeof mine;
    char text[INET6_ADDRSTRLEN] = {};
    if (descriptor >= 0 && connect(descriptor, one->ai_addr, one->ai_addrlen) == 0 &&
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&mine), &size) == 0) {
      if (mine.ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(&mine)->sin6_addr, text, sizeof text);
      } else {
        inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&mine)->sin_addr, text, sizeof text);
      }
      out = text;
    }
    if (descriptor >= 0) ::close(descriptor);
  }
  freeaddrinfo(found);
  return out;
}

}  // namespace weft::net
