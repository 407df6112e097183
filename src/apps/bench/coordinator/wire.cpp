#include "apps/bench/coordinator/wire.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace weft::coordinator::bench {

Result<std::unique_ptr<Wire>> Wire::create(std::uint16_t port, Handlers handlers) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0)
    return fail(ErrorCode::resource_exhausted, "epoll cannot be created: {}.",
                std::strerror(errno));
  return std::unique_ptr<Wire>(new Wire(epoll, port, std::move(handlers)));
}

Wire::~Wire() {
  for (const Connection& connection : connections_) {
    if (connection.file >= 0) ::close(connection.file);
  }
  ::close(epoll_);
}

Result<Wire::Id> Wire::connect() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0)
    return fail(ErrorCode::resource_exhausted,
                "A socket for another connection cannot be opened: {}.", std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(file);
    return fail(ErrorCode::unavailable, "127.0.0.1:{} does not answer: {}.", port_,
                std::strerror(errno));
  }
  const int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(file, F_SETFL, O_NONBLOCK);
  const auto id = static_cast<Id>(connections_.size());
  connections_.push_back({.file = file, .in = {}, .out = {}});
  epoll_event event{.events = EPOLLIN, .data = {.u32 = id}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event);
  return id;
}

void Wire::queue(Id id, std::string_view bytes) {
  Connection& connection = connections_[id];
  if (connection.file < 0) return;
  connection.out += bytes;
  if (!std::exchange(connection.dirty, true)) dirty_.push_back(id);
}

void Wire::request(Id id, std::string_view method, std::string_view path, std::string_view headers,
                   std::string_view body) {
  queue(id, method);
  queue(id, " ");
  queue(id, path);
  queue(id, " HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n");
  queue(id, headers);
  queue(id, "content-length: " + std::to_string(body.size()) + "\r\n\r\n");
  queue(id, body);
}

void Wire::upgrade(Id id, std::string_view path, std::string_view headers) {
  connections_[id].mode = Mode::upgrading;
  queue(id, "GET ");
  queue(id, path);
  queue(id,
        " HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: "
        "websocket\r\nsec-websocket-version: 13\r\n"
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  queue(id, headers);
  queue(id, "\r\n");
}

void Wire::close(Id id) {
  Connection& connection = connections_[id];
  if (connection.file < 0) return;
  ::close(std::exchange(connection.file, -1));
  connection.in = {};
  connection.out = {};
}

void Wire::send_text(Id id, std::string_view text) { frame(id, 1, text); }
void Wire::send_binary(Id id, ByteSpan bytes) { frame(id, 2, as_text(bytes)); }

// Queues a frame (RFC 6455, 5.2). A client must mask its frames; a mask of zeros leaves the payload
// unchanged.
void Wire::frame(Id id, std::uint8_t opcode, std::string_view payload) {
  std::string head;
  head += static_cast<char>(0x80 | opcode);
  const std::size_t size = payload.size();
  if (size < 126) {
    head += static_cast<char>(0x80 | size);
  } else if (size < 65536) {
    head += static_cast<char>(0x80 | 126);
    head += static_cast<char>(size >> 8);
    head += static_cast<char>(size);
  } else {
    head += static_cast<char>(0x80 | 127);
    for (int shift = 56; shift >= 0; shift -= 8) head += static_cast<char>(size >> shift);
  }
  head.append(4, '\0');
  queue(id, head);
  queue(id, payload);
}

void Wire::flush(Id id) {
  Connection& connection = connections_[id];
  connection.dirty = false;
  if (connection.file < 0 || connection.out.empty()) return;
  const ssize_t sent =
      ::send(connection.file, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return end(id);
  connection.out.erase(0, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  const bool blocked = !connection.out.empty();
  if (blocked == connection.blocked) return;
  connection.blocked = blocked;
  epoll_event event{.events = EPOLLIN | (blocked ? EPOLLOUT : 0U), .data = {.u32 = id}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.file, &event);
}

void Wire::poll(Duration patience) {
  for (const Id id : std::exchange(dirty_, {})) flush(id);
  std::array<epoll_event, 512> events;
  const auto wait = std::chrono::duration_cast<std::chrono::microseconds>(patience);
  const timespec limit{.tv_sec = wait.count() / 1'000'000,
                       .tv_nsec = wait.count() % 1'000'000 * 1000};
  const int count =
      epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &limit, nullptr);
  for (int i = 0; i < count; ++i) {
    const Id id = events[static_cast<std::size_t>(i)].data.u32;
    if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) != 0) flush(id);
    receive(id);
  }
  for (const Id id : std::exchange(dirty_, {})) flush(id);
}

void Wire::receive(Id id) {
  std::array<char, 65536> buffer;
  if (connections_[id].file < 0) return;
  const ssize_t got = ::recv(connections_[id].file, buffer.data(), buffer.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return end(id);
  connections_[id].in.append(buffer.data(), static_cast<std::size_t>(got));
  // Connections are addressed by index, because a handler may add some, which moves the array.
  while (connections_[id].file >= 0 &&
         (connections_[id].mode == Mode::socket ? take_frame(id) : take_answer(id))) {
  }
}

bool Wire::take_answer(Id id) {
  const std::string& in = connections_[id].in;
  const std::size_t head_end = in.find("\r\n\r\n");
  if (head_end == std::string::npos || in.size() < 12) return false;
  int status = 0;
  std::from_chars(in.data() + 9, in.data() + 12, status);
  if (status == 101) {
    connections_[id].in.erase(0, head_end + 4);
    connections_[id].mode = Mode::socket;
    handlers_.opened(id);
    return true;
  }
  std::size_t length = 0;
  for (const std::string_view name : {"\r\ncontent-length: ", "\r\nContent-Length: "}) {
    const std::size_t at = in.find(name);
    if (at < head_end) std::from_chars(in.data() + at + name.size(), in.data() + head_end, length);
  }
  if (in.size() < head_end + 4 + length) return false;
  const std::string body = in.substr(head_end + 4, length);
  connections_[id].in.erase(0, head_end + 4 + length);
  handlers_.answered(id, status, body);
  return true;
}

bool Wire::take_frame(Id id) {
  const std::string& in = connections_[id].in;
  if (in.size() < 2) return false;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(in[at]); };
  std::size_t size = byte(1) & 0x7f;
  std::size_t head = 2;
  if (size >= 126) {
    const std::size_t bytes = size == 126 ? 2 : 8;
    head += bytes;
    if (in.size() < head) return false;
    size = 0;
    for (std::size_t i = 0; i < bytes; ++i) size = size << 8 | byte(2 + i);
  }
  if (in.size() < head + size) return false;
  const std::uint8_t opcode = byte(0) & 0x0f;
  const std::string payload = in.substr(head, size);
  connections_[id].in.erase(0, head + size);
  if (opcode == 1) handlers_.text(id, payload);
  if (opcode == 8) end(id);
  if (opcode == 9) frame(id, 10, payload);
  return true;
}

void Wire::end(Id id) {
  Connection& connection = connections_[id];
  if (connection.file < 0) return;
  close(id);
  handlers_.closed(id);
}

}  // namespace weft::coordinator::bench
