#include "worker/inference/serve_connection.h"

#include <utility>

#include "common/base/log.h"

namespace weft::worker {

namespace wire = protocol::serving;

template <class Function>
auto ServeConnection::while_connected(Function function) {
  return [weak = weak_from_this(), number = number_,
          function = std::move(function)](auto&&... arguments) {
    if (const auto self = weak.lock(); self && self->number_ == number)
      function(*self, std::forward<decltype(arguments)>(arguments)...);
  };
}

void ServeConnection::join(std::string token) {
  leave();
  token_ = std::move(token);
  connect();
}

void ServeConnection::leave() {
  ++number_;
  open_ = false;
  token_.clear();
  host_.close();
}

void ServeConnection::connect() {
  host_.connect({.open = while_connected([](ServeConnection& self) {
                   self.open_ = true;
                   self.events_.opened();
                 }),
                 .text = while_connected(
                     [](ServeConnection& self, const std::string& text) { self.on_text(text); }),
                 .binary = while_connected([](ServeConnection& self, const ByteVector& bytes) {
                   self.events_.frame(bytes);
                 }),
                 .closed = while_connected(
                     [](ServeConnection& self, const std::string&) { self.on_closed(); })});
}

void ServeConnection::on_text(const std::string& text) {
  const auto message = wire::decode_coordinator(text);
  if (!message) {
    log_warning("The coordinator sends what is not a message of /v1/serve: {}",
                message.error().message);
    return;
  }
  events_.message(*message);
}

void ServeConnection::on_closed() {
  open_ = false;
  events_.closed();
  ++number_;
  host_.after(retry_, while_connected([](ServeConnection& self) {
                if (!self.token_.empty()) self.connect();
              }));
}

void ServeConnection::tell(const wire::ServingWorkerMessage& message) {
  if (open_) host_.send_text(wire::encode(message));
}

void ServeConnection::send_frame(ByteVector frame) {
  if (open_) host_.send_binary(std::move(frame));
}

}  // namespace weft::worker
