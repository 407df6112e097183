#include "apps/worker/web/web_host.h"

#include <utility>

#include <emscripten/emscripten.h>

#include "apps/worker/web/imports.h"

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_socket_news(void* callback, int news, const std::uint8_t* data,
                                           std::uint32_t size) {
  using namespace weft::worker::web;
  auto* socket = static_cast<SocketCallback*>(callback);
  socket->call(static_cast<SocketNews>(news), {data, size});
  if (static_cast<SocketNews>(news) == SocketNews::closed) delete socket;
}

EMSCRIPTEN_KEEPALIVE void weft_blob_done(void* callback, const char* code, const std::uint8_t* data,
                                         std::uint32_t size) {
  using namespace weft::worker::web;
  const std::unique_ptr<FetchCallback> done(static_cast<FetchCallback*>(callback));
  done->call(code == nullptr ? "" : code, {data, size});
}

EMSCRIPTEN_KEEPALIVE void weft_timer_done(void* callback) {
  const std::unique_ptr<weft::worker::web::TimerCallback> timer(
      static_cast<weft::worker::web::TimerCallback*>(callback));
  timer->call();
}
}

namespace weft::worker::web {

void WebHost::connect(SocketEvents events) {
  close();
  events_ = std::make_shared<SocketEvents>(std::move(events));
  std::string url = origin_ + path_;
  if (url.starts_with("http")) url.replace(0, 4, "ws");
  // Copies the callback before it runs, because the callback may drop the socket, and with the
  // socket the callback.
  auto* callback = new SocketCallback{[kept = events_](SocketNews news, ByteSpan data) {
    switch (news) {
      case SocketNews::open:
        if (auto event = kept->open) event();
        break;
      case SocketNews::text:
        if (auto event = kept->text) event(std::string(as_text(data)));
        break;
      case SocketNews::binary:
        if (auto event = kept->binary) event(ByteVector(data.begin(), data.end()));
        break;
      case SocketNews::closed:
        if (auto event = std::exchange(*kept, {}).closed) event(std::string(as_text(data)));
        break;
    }
  }};
  socket_ = weft_socket_open(callback, url.data(), static_cast<std::uint32_t>(url.size()));
}

void WebHost::send_text(std::string text) {
  if (socket_ != 0)
    weft_socket_send_text(socket_, text.data(), static_cast<std::uint32_t>(text.size()));
}

void WebHost::send_binary(ByteVector bytes) {
  if (socket_ != 0)
    weft_socket_send_bytes(socket_, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

void WebHost::close() {
  if (events_) *events_ = {};
  events_.reset();
  if (socket_ != 0) weft_socket_close(std::exchange(socket_, 0));
}

void WebHost::fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                         std::function<void(Result<ByteVector>)> done) {
  const std::string url = blob_url(hash);
  auto* callback =
      new FetchCallback{[done = std::move(done)](std::string_view code, ByteSpan data) {
        if (!code.empty()) return done(fail(error_code_from(code), "{}", as_text(data)));
        done(ByteVector(data.begin(), data.end()));
      }};
  weft_blob_get(callback, url.data(), static_cast<std::uint32_t>(url.size()), token.data(),
                static_cast<std::uint32_t>(token.size()), static_cast<double>(bytes_max));
}

void WebHost::put_blob(const Hash& hash, ByteVector bytes, std::string token,
                       std::function<void(Result<>)> done) {
  const std::string url = blob_url(hash);
  auto* callback =
      new FetchCallback{[done = std::move(done)](std::string_view code, ByteSpan data) {
        if (!code.empty()) return done(fail(error_code_from(code), "{}", as_text(data)));
        done({});
      }};
  weft_blob_put(callback, url.data(), static_cast<std::uint32_t>(url.size()), token.data(),
                static_cast<std::uint32_t>(token.size()), bytes.data(),
                static_cast<double>(bytes.size()));
}

void WebHost::after(Duration delay, std::function<void()> work) {
  weft_timer(new TimerCallback{std::move(work)}, seconds(delay) * 1000);
}

double WebHost::random() { return weft_random_share(); }

}  // namespace weft::worker::web
