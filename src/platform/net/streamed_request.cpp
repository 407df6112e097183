#include "platform/net/streamed_request.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "common/base/format.h"
#include "platform/net/address.h"
#include "platform/net/streamed_body.h"

namespace weft::net {

namespace {

constexpr int look_every_ms = 50;
constexpr Duration connect_max = std::chrono::seconds(10);

// A connected TCP socket. Reads and writes wait, and meanwhile check StreamedEvents::wanted.
class Plain {
 public:
  explicit Plain(const StreamedEvents& events) : events_(events) {}
  Plain(const Plain&) = delete;
  ~Plain() {
    if (socket_ >= 0) ::close(socket_);
  }

  [[nodiscard]] Result<> connect(const Url& url) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found) != 0)
      return fail(ErrorCode::unavailable, "The host name {} cannot be resolved.", url.host);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
    Result<> last = fail(ErrorCode::unavailable, "{} has no address.", url.host);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      last = connect(*one, url);
      if (last || last.error().code == ErrorCode::cancelled) break;
    }
    return last;
  }

  // Reads at least one byte; 0 at the end of the connection.
  [[nodiscard]] Result<std::size_t> read(std::span<char> out) {
    WEFT_OK(wait(POLLIN, events_.silence_max));
    const ssize_t count = ::recv(socket_, out.data(), out.size(), 0);
    if (count < 0)
      return fail(ErrorCode::unavailable, "The connection broke: {}.", std::strerror(errno));
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] Result<> write(std::string_view bytes) {
    while (!bytes.empty()) {
      WEFT_OK(wait(POLLOUT, events_.silence_max));
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno != EAGAIN)
        return fail(ErrorCode::unavailable, "The connection broke: {}.", std::strerror(errno));
      if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }

 private:
  [[nodiscard]] Result<> connect(const addrinfo& address, const Url& url) {
    if (socket_ >= 0) ::close(socket_);
    socket_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return fail(ErrorCode::unavailable, "A socket cannot be opened.");
    const int on = 1;
    (void)::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket_, address.ai_addr, address.ai_addrlen) == 0) return {};
    int error = errno;
    if (error == EINPROGRESS) {
      WEFT_OK(wait(POLLOUT, connect_max));
      socklen_t size = sizeof error;
      (void)::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) return {};
    return fail(ErrorCode::unavailable, "{} cannot be reached: {}.", url.text(),
                std::strerror(error));
  }
  [[nodiscard]] Result<> wait(short what, Duration at_most) {
    const Instant give_up = now() + at_most;
    while (true) {
      if (!events_.wanted()) return fail(ErrorCode::cancelled, "The request was cancelled.");
      pollfd one{.fd = socket_, .events = what, .revents = 0};
      const int ready = ::poll(&one, 1, look_every_ms);
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR)
        return fail(ErrorCode::unavailable, "The connection broke: {}.", std::strerror(errno));
      if (now() >= give_up)
        return fail(ErrorCode::deadline_exceeded, "The server sent nothing for {:.0f} s.",
                    seconds(at_most));
    }
  }

  const StreamedEvents& events_;
  int socket_ = -1;
};

// TLS over Plain. The bytes between the two are in memory, so that every wait is one of Plain's.
class Secure {
 public:
  explicit Secure(Plain& plain) : plain_(plain) {}
  Secure(const Secure&) = delete;
  ~Secure() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }

  [[nodiscard]] Result<> begin(const Url& url, const TlsOptions& options) {
    ERR_clear_error();
    context_ = SSL_CTX_new(TLS_client_method());
    if (context_ == nullptr) return fail(ErrorCode::internal, "OpenSSL cannot make a TLS context.");
    (void)SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
    (void)SSL_CTX_set_default_verify_paths(context_);
    if (!options.ca_cert.empty() &&
        SSL_CTX_load_verify_locations(context_, options.ca_cert.c_str(), nullptr) != 1)
      return fail(ErrorCode::invalid_argument, "{} holds no certificate in PEM.", options.ca_cert);
    SSL_CTX_set_verify(context_, options.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    ssl_ = SSL_new(context_);
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_, in_, out_);
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), url.host.c_str()) != 1) {
      ERR_clear_error();
      (void)SSL_set1_host(ssl_, url.host.c_str());
      (void)SSL_set_tlsext_host_name(ssl_, url.host.c_str());
    }
    SSL_set_connect_state(ssl_);
    return until([&] { return SSL_do_handshake(ssl_); }).transform([](int) {});
  }
  [[nodiscard]] Result<std::size_t> read(std::span<char> out) {
    const auto count =
        until([&] { return SSL_read(ssl_, out.data(), static_cast<int>(out.size())); });
    if (!count) return std::unexpected(count.error());
    return static_cast<std::size_t>(*count);
  }
  [[nodiscard]] Result<> write(std::string_view bytes) {
    while (!bytes.empty()) {
      const int part = static_cast<int>(std::min<std::size_t>(bytes.size(), 16 << 10));
      const auto count = until([&] { return SSL_write(ssl_, bytes.data(), part); });
      if (!count) return std::unexpected(count.error());
      bytes.remove_prefix(static_cast<std::size_t>(*count));
    }
    return {};
  }

 private:
  // Repeats `step` until it has made progress; 0 at the end of the connection.
  template <class Step>
  [[nodiscard]] Result<int> until(Step step) {
    while (true) {
      ERR_clear_error();
      const int done = step();
      const int why = done > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_, done);
      WEFT_OK(flush());
      if (done > 0) return done;
      if (why == SSL_ERROR_ZERO_RETURN) return 0;
      if (why != SSL_ERROR_WANT_READ)
        return SSL_get_verify_result(ssl_) == X509_V_OK
                   ? fail(ErrorCode::unavailable, "TLS failed.")
                   : fail(ErrorCode::unauthenticated,
                          "The server's certificate is not trusted: {}.",
                          X509_verify_cert_error_string(SSL_get_verify_result(ssl_)));
      std::array<char, 16 << 10> bytes{};
      WEFT_ASSIGN(const std::size_t count, plain_.read(bytes));
      if (count == 0) return 0;
      (void)BIO_write(in_, bytes.data(), static_cast<int>(count));
    }
  }
  [[nodiscard]] Result<> flush() {
    std::array<char, 16 << 10> bytes{};
    for (int count = 0; (count = BIO_read(out_, bytes.data(), bytes.size())) > 0;)
      WEFT_OK(plain_.write({bytes.data(), static_cast<std::size_t>(count)}));
    return {};
  }

  Plain& plain_;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  BIO *in_ = nullptr, *out_ = nullptr;  // The TLS session owns both.
};

// The request has no "connection: close", because servers on Drogon then send the head of a stream
// and no part of its body.
std::string text_of(const Url& url, const Request& request) {
  std::string out = weft::format(
      "{} {} HTTP/1.1\r\nhost: {}\r\nuser-agent: weft\r\ncontent-length: "
      "{}\r\n",
      request.method, request.path, url.authority(), request.body.size());
  for (const auto& [name, value] : request.headers) {
    // A value with a line break would add another header.
    if (value.find_first_of("\r\n") == std::string::npos) out += name + ": " + value + "\r\n";
  }
  return out + "\r\n" + request.body;
}

template <class Line>
Result<Response> converse(Line& line, const Url& url, const Request& request,
                          const StreamedEvents& events) {
  WEFT_OK(line.write(text_of(url, request)));
  std::string text;
  std::array<char, 16 << 10> bytes{};
  std::size_t end = std::string::npos;
  while ((end = text.find("\r\n\r\n")) == std::string::npos) {
    if (text.size() > StreamedEvents::head_bytes_max)
      return fail(ErrorCode::data_loss, "The head of the answer has more than {} bytes.",
                  StreamedEvents::head_bytes_max);
    WEFT_ASSIGN(const std::size_t count, line.read(bytes));
    if (count == 0)
      return fail(ErrorCode::unavailable, "{} closed the connection without an answer.",
                  url.text());
    text.append(bytes.data(), count);
  }
  WEFT_ASSIGN(Response head, read_answer_head(std::string_view(text).substr(0, end)));
  WEFT_ASSIGN(StreamedBody body, StreamedBody::of(head));
  if (head.ok() && events.begun) events.begun(head);
  const auto tell = [&](std::string_view came) -> Result<> {
    WEFT_ASSIGN(const std::string part, body.take(came));
    if (head.ok()) {
      if (!part.empty() && !events.bytes(part))
        return fail(ErrorCode::cancelled, "The request was cancelled.");
      return {};
    }
    head.body.append(part, 0,
                     StreamedEvents::error_bytes_max -
                         std::min(head.body.size(), StreamedEvents::error_bytes_max));
    return {};
  };
  WEFT_OK(tell(std::string_view(text).substr(end + 4)));
  while (!body.ended()) {
    WEFT_ASSIGN(const std::size_t count, line.read(bytes));
    if (count == 0) {
      WEFT_OK(body.close());
      break;
    }
    WEFT_OK(tell({bytes.data(), count}));
  }
  return head;
}

}  // namespace

Result<Response> send_streamed(const Url& url, const TlsOptions& tls, const Request& request,
                               const StreamedEvents& events) {
  Plain plain(events);
  WEFT_OK(plain.connect(url));
  if (!url.tls) return converse(plain, url, request, events);
  Secure secure(plain);
  WEFT_OK(secure.begin(url, tls));
  return converse(secure, url, request, events);
}

}  // namespace weft::net
