// Thousands of connections to one coordinator on loopback, on one thread: HTTP connections with one
// request at a time, and WebSockets. It does only what a measurement needs, so that the processor's
// time goes to the coordinator. The client for users is platform/net.
//
// Threading: one thread. Replies and messages are delivered by poll().
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
    std::function<void(Id)> opened;  // A WebSocket has opened.
    std::function<void(Id, std::string_view text)> text;
    std::function<void(Id)> closed;  // The coordinator has closed the connection.
  };

  // Makes a wire to a port on 127.0.0.1.
  [[nodiscard]] static Result<std::unique_ptr<Wire>> create(std::uint16_t port, Handlers handlers);
  Wire(const Wire&) = delete;
  ~Wire();

  // Fails with unavailable if no program listens, and with resource_exhausted if too many files are
  // open.
  [[nodiscard]] Result<Id> connect();
  // Sends a request. `headers` are whole lines, each with its CRLF. The reply must arrive before
  // the connection's next request.
  void request(Id id, std::string_view method, std::string_view path, std::string_view headers,
               std::string_view body);
  // Turns the connection into a WebSocket. `headers` are whole lines, each with its CRLF.
  void upgrade(Id id, std::string_view path, std::string_view headers = {});
  // Closes a connection. Handlers are not called for it.
  void close(Id id);
  void send_text(Id id, std::string_view text);
  void send_binary(Id id, ByteSpan bytes);

  // Sends the queued bytes, waits for at most `patience` (0: no waiting), and calls handlers for
  // the data that have arrived.
  void poll(Duration patience);

 private:
  enum class Mode : std::uint8_t { http, upgrading, socket };
  struct Connection {
    int file = -1;
    Mode mode = Mode::http;
    bool dirty = false;
    bool blocked = false;  // The last write was partial; waiting for epoll.
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
