// Connections of a stranger to a coordinator: raw bytes over a socket of loopback, with enough of
// HTTP and WebSocket to use either rightly or wrongly. Nothing blocks.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/sessions/random.h"

namespace weft::sessions {

// The address at which a coordinator listens: an address of 127.0.0.0/8 as a number, and a port.
struct Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
};
[[nodiscard]] std::string text_of_address(std::uint32_t address);  // "127.0.0.1"
[[nodiscard]] std::string text_of(const Endpoint& endpoint);       // "127.0.0.1:4711"

class Connection {
 public:
  // Begins to connect. `source` is an address of 127.0.0.0/8 as a number.
  Connection(const Endpoint& coordinator, std::uint32_t source);
  Connection(const Connection&) = delete;
  ~Connection();

  // Queues bytes, which are sent as the socket takes them.
  void send(std::string_view bytes) { out_ += bytes; }
  // Reads and writes as many bytes as the socket takes at once. Returns false once the other side
  // has ended the connection, or the system has refused it.
  bool pump();
  void close();
  // Closes with a reset instead of a proper end.
  void reset();
  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  [[nodiscard]] bool wants_to_write() const { return !out_.empty(); }

  std::string in;  // Received bytes that were not taken yet.

 private:
  int file_ = -1;
  std::string out_;
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // Headers by their names in lower case.
  std::string body;
};
// Takes one answer from the front of `in`. `ended`: no more bytes come. Empty while the answer is
// not whole.
[[nodiscard]] std::optional<HttpAnswer> take_answer(std::string& in, bool ended);

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";
  std::map<std::string, std::string> headers{};
  std::string body{};
};
[[nodiscard]] std::string text_of(const HttpRequest& request, const std::string& host);

// A WebSocket: opened by upgrade(), then frames.
class WebSocket {
 public:
  WebSocket(const Endpoint& coordinator, std::uint32_t source, const std::string& path,
            const std::string& host);
  void send(std::uint8_t opcode, std::string_view payload, Random& random, bool broken = false);
  void send_text(std::string_view text, Random& random) { send(1, text, random); }
  void send_binary(std::string_view bytes, Random& random) { send(2, bytes, random); }
  // Passes each received text to `hear`. False at the end of the connection.
  bool pump(Random& random, const std::function<void(const std::string&)>& hear);

  Connection line;
  bool is_upgraded = false;
};

}  // namespace weft::sessions
