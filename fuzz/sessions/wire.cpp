#include "fuzz/sessions/wire.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <unistd.h>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base/format.h"

namespace weft::sessions {

std::string text_of_address(std::uint32_t address) {
  return weft::format("{}.{}.{}.{}", address >> 24U, (address >> 16U) & 255U,
                      (address >> 8U) & 255U, address & 255U);
}

std::string text_of(const Endpoint& endpoint) {
  return weft::format("{}:{}", text_of_address(endpoint.address), endpoint.port);
}

Connection::Connection(const Endpoint& coordinator, std::uint32_t source) {
  file_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file_ < 0) return;
  // The port is chosen when the socket connects.
  const int one = 1;
  setsockopt(file_, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &one, sizeof one);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(source);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(coordinator.port);
  to.sin_addr.s_addr = htonl(coordinator.address);
  if (bind(file_, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      (connect(file_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 &&
       errno != EINPROGRESS))
    close();
}

Connection::~Connection() { close(); }

void Connection::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

void Connection::reset() {
  if (file_ < 0) return;
  const linger now{.l_onoff = 1, .l_linger = 0};
  setsockopt(file_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

bool Connection::pump() {
  if (file_ < 0) return false;
  while (!out_.empty()) {
    const auto sent = ::send(file_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) {
      // ENOTCONN: the socket is not connected yet.
      if (errno == EAGAIN || errno == ENOTCONN || errno == EINTR) break;
      out_.clear();  // Bytes that arrived before are still read.
      break;
    }
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  constexpr std::size_t kept_max = std::size_t{8} << 20;
  for (char part[16384]; in.size() < kept_max;) {
    const auto came = recv(file_, part, sizeof part, MSG_DONTWAIT);
    if (came > 0) {
      in.append(part, static_cast<std::size_t>(came));
      continue;
    }
    if (came < 0 && (errno == EAGAIN || errno == ENOTCONN || errno == EINTR)) return true;
    close();
    return false;
  }
  return true;
}

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return text;
}

}  // namespace

std::optional<HttpAnswer> take_answer(std::string& in, bool ended) {
  const auto head_end = in.find("\r\n\r\n");
  if (head_end == std::string::npos || in.size() < 12) return std::nullopt;
  HttpAnswer out;
  std::from_chars(in.data() + 9, in.data() + 12, out.status);
  std::size_t at = in.find("\r\n") + 2;
  while (at < head_end + 2) {
    const auto end = in.find("\r\n", at);
    const auto colon = in.find(':', at);
    if (colon < end) {
      auto value = in.substr(colon + 1, end - colon - 1);
      value.erase(0, value.find_first_not_of(' '));
      out.headers[lower(in.substr(at, colon - at))] = value;
    }
    at = end + 2;
  }
  const std::size_t body = head_end + 4;
  if (out.status == 101 || out.status == 304 || out.status == 204) {
    in.erase(0, body);
    return out;
  }
  if (const auto length = out.headers.find("content-length"); length != out.headers.end()) {
    std::size_t bytes = 0;
    std::from_chars(length->second.data(), length->second.data() + length->second.size(), bytes);
    if (in.size() < body + bytes && !ended) return std::nullopt;
    out.body = in.substr(body, bytes);
    in.erase(0, std::min(in.size(), body + bytes));
    return out;
  }
  if (out.headers.contains("transfer-encoding")) {
    std::size_t from = body;
    for (;;) {
      const auto line = in.find("\r\n", from);
      if (line == std::string::npos) break;
      std::size_t bytes = 0;
      std::from_chars(in.data() + from, in.data() + line, bytes, 16);
      if (in.size() < line + 2 + bytes + 2) break;
      out.body += in.substr(line + 2, bytes);
      from = line + 2 + bytes + 2;
      if (bytes == 0) {
        in.erase(0, from);
        return out;
      }
    }
    if (!ended) return std::nullopt;
    in.clear();
    return out;
  }
  if (!ended) return std::nullopt;
  out.body = in.substr(body);
  in.clear();
  return out;
}

std::string text_of(const HttpRequest& request, const std::string& host) {
  std::string out = weft::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  if (!request.headers.contains("host")) out += weft::format("host: {}\r\n", host);
  for (const auto& [name, value] : request.headers) out += weft::format("{}: {}\r\n", name, value);
  const bool has_length =
      request.headers.contains("content-length") || request.headers.contains("transfer-encoding");
  if (!has_length && (!request.body.empty() || request.method == "POST" || request.method == "PUT"))
    out += weft::format("content-length: {}\r\n", request.body.size());
  return out + "\r\n" + request.body;
}

WebSocket::WebSocket(const Endpoint& coordinator, std::uint32_t source, const std::string& path,
                     const std::string& host)
    : line(coordinator, source) {
  line.send(
      weft::format("GET {} HTTP/1.1\r\nhost: {}\r\nupgrade: websocket\r\n"
                   "connection: Upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                   "sec-websocket-version: 13\r\n\r\n",
                   path, host));
}

// Sends a client's frame, masked. A broken frame has a wrong header.
void WebSocket::send(std::uint8_t opcode, std::string_view payload, Random& random, bool broken) {
  std::string out;
  std::uint8_t first = static_cast<std::uint8_t>(0x80 | opcode);
  bool masked = true;
  std::uint64_t length = payload.size();
  if (broken) {
    switch (random.below(6)) {
      case 0:
        first = static_cast<std::uint8_t>(random.any());
        break;  // A header with random flag bits and a random opcode.
      case 1:
        first &= 0x7f;
        break;  // A frame that says that more frames follow.
      case 2:
        masked = false;
        break;
      case 3:
        length += random.below(1000);
        break;  // The frame is never finished.
      case 4:
        length = std::uint64_t{1} << (20 + random.below(44));
        break;  // The frame is far too long.
      default:
        length = random.below(payload.size() + 1);
        break;  // The rest of the payload is read as a frame, too.
    }
  }
  out += static_cast<char>(first);
  const std::uint8_t mask_bit = masked ? 0x80 : 0;
  if (length < 126) {
    out += static_cast<char>(mask_bit | length);
  } else if (length < 65536) {
    out += static_cast<char>(mask_bit | 126);
    out += static_cast<char>(length >> 8);
    out += static_cast<char>(length & 0xff);
  } else {
    out += static_cast<char>(mask_bit | 127);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(length >> shift);
  }
  const std::string mask = random.bytes(4);
  if (masked) out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i)
    out += masked ? static_cast<char>(payload[i] ^ mask[i % 4]) : payload[i];
  line.send(out);
}

bool WebSocket::pump(Random& random, const std::function<void(const std::string&)>& hear) {
  const bool open = line.pump();
  if (!is_upgraded) {
    if (const auto answer = take_answer(line.in, !open)) {
      if (answer->status != 101) {
        line.close();
        return false;
      }
      is_upgraded = true;
    }
  }
  while (is_upgraded && line.in.size() >= 2) {
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint64_t>(static_cast<std::uint8_t>(line.in[i]));
    };
    const auto opcode = byte(0) & 0xf;
    std::uint64_t length = byte(1) & 0x7f;
    std::size_t head = 2;
    if (length == 126) {
      head = 4;
      if (line.in.size() < head) break;
      length = (byte(2) << 8) | byte(3);
    } else if (length == 127) {
      head = 10;
      if (line.in.size() < head) break;
      length = 0;
      for (std::size_t i = 2; i < 10; ++i) length = (length << 8) | byte(i);
    }
    if (line.in.size() < head + length) break;
    const std::string payload = line.in.substr(head, length);
    line.in.erase(0, head + length);
    if (opcode == 1) hear(payload);
    // One ping of ten goes unanswered.
    if (opcode == 9 && !random.chance(10)) send(10, payload, random);
    if (opcode == 8) {
      line.close();
      return false;
    }
  }
  return open;
}

}  // namespace weft::sessions
