// Thousands of connections to one coordinator on loopback, by one thread: HTTP requests one at a
// time on a connection, and WebSockets. As little as the measurement needs, so that the processor
// is the coordinator's and not ours; what a client does for users is in platform/net.
//
// Threading: one. Answers and messages come out of poll().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

class Wire {
 public:
  using Id = std::uint32_t;
  struct Handlers {
    std::function<void(Id, int status, std::string_view body)> answered;
    std::function<void(Id)> opened;  // A WebSocket.
    std::function<void(Id, std::string_view text)> text;
    std::function<void(Id)> closed;  // By the other side.
  };

  // To 127.0.0.1.
  [[nodiscard]] static Result<std::unique_ptr<Wire>> create(std::uint16_t port, Handlers handlers);
  Wire(const Wire&) = delete;
  ~Wire();

  // unavailable if no program listens, resource_exhausted if there are too many open files.
  [[nodiscard]] Result<Id> connect();
  // `headers` are whole lines, each with its CRLF. The answer comes before the next request of the
  // connection.
  void request(Id id, std::string_view method, std::string_view path, std::string_view headers,
               std::string_view body);
  // From here on the connection is a WebSocket. `headers` as for request().
  void upgrade(Id id, std::string_view path, std::string_view headers = {});
  // From this side: no handler hears of it.
  void close(Id id);
  void send_text(Id id, std::string_view text);
  void send_binary(Id id, ByteSpan bytes);

  // Sends what is to be sent, waits for at most `patience` (0: not at all), and hands out what has
  // come.
  void poll(Duration patience);

 private:
  enum class Mode : std::uint8_t { http, upgrading, socket };
  struct Connection {
    int file = -1;
    Mode mode = Mode::http;
    bool dirty = false;
    bool blocked = false;  // The last write was short: epoll says when to go on.
    std::string in;
    std::string out;
  };

  Wire(int epoll, std::uint16_t port, Handlers handlers)
      : epoll_(epoll), port_(port), handlers_(std::move(handlers)) {}
  void queue(Id id, std::string_view bytes);
  void frame(Id id, std::uint8_t opcode, std::string_view payload);
  void flush(Id id);
  void receive(Id id);
  [[nodiscard]] bool take_answer(Id id);
  [[nodiscard]] bool take_frame(Id id);
  void end(Id id);

  const int epoll_;
  const std::uint16_t port_;
  const Handlers handlers_;
  std::vector<Connection> connections_;
  std::vector<Id> dirty_;
};

}  // namespace weft::coordinator::bench
