// A worker's connection to the coordinator's /v1/serve: opened with a token, reopened after a loss;
// sends and receives messages.
//
// Threading: the host's thread. Lifetime: held by a shared_ptr; the host outlives it. After leave()
// or join() no event of an earlier connection follows. Errors: a message that cannot be read is
// logged and dropped; a lost connection is reported as `closed` and tried again after `retry`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/protocol/serving.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

class ServeConnection : public std::enable_shared_from_this<ServeConnection> {
 public:
  struct Events {
    std::function<void()> opened;
    std::function<void(const protocol::serving::ServingCoordinatorMessage&)> message;
    std::function<void(const ByteVector&)> frame;
    std::function<void()> closed;  // Called after a loss, not after leave().
  };
  ServeConnection(ServingHost& host, Duration retry) : host_(host), retry_(retry) {}

  // Sets the callbacks. Call it before join().
  void listen(Events events) { events_ = std::move(events); }
  void join(std::string token);
  void leave();

  [[nodiscard]] bool is_open() const { return open_; }
  // The token of the last join(); empty after leave().
  [[nodiscard]] const std::string& token() const { return token_; }
  // A number that changes with each join(), leave() and loss. Work that began under another number
  // is not for the current connection.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Messages are dropped while the connection is not open.
  void tell(const protocol::serving::ServingWorkerMessage& message);
  void send_frame(ByteVector frame);

 private:
  template <class Function>
  auto while_connected(Function function);
  void connect();
  void on_text(const std::string& text);
  void on_closed();

  ServingHost& host_;
  const Duration retry_;
  Events events_;
  std::string token_;
  std::uint64_t number_ = 0;
  bool open_ = false;
};

}  // namespace weft::worker
