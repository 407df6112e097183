#include "apps/worker/native_host.h"

namespace weft::worker {
namespace {

constexpr Duration blob_timeout = std::chrono::minutes(5);

std::string blob_path(const Hash& hash) { return "/v1/blobs/" + hash.text(); }

}  // namespace

void NativeHost::connect(SocketEvents events) {
  const std::uint64_t mine = ++*generation_;
  if (socket_) std::exchange(socket_, nullptr)->close();
  auto shared = std::make_shared<SocketEvents>(std::move(events));
  // Brought to the loop, and heard there only while this socket is the current one.
  const auto bring = [&loop = loop_, current = generation_, mine](std::function<void()> work) {
    loop.post([current, mine, work = std::move(work)] {
      if (*current == mine) work();
    });
  };
  socket_ = client_.connect("/v1/worker", {.open = [=] { bring([shared] { shared->open(); }); },
                                           .text = [=](std::string text) { bring([shared, text = std::move(text)] { shared->text(text); }); },
                                           .binary = [=](ByteVector bytes) { bring([shared, bytes = std::move(bytes)] { shared->binary(bytes); }); },
                                           .closed = [=](Error why) { bring([shared, why = std::move(why)] { shared->closed(why.message); }); }});
}

void NativeHost::send_text(std::string text) {
  if (socket_) socket_->send_text(std::move(text));
}

void NativeHost::send_binary(ByteVector bytes) {
  if (socket_) socket_->send_binary(std::move(bytes));
}

void NativeHost::close() {
  ++*generation_;
  if (socket_) std::exchange(socket_, nullptr)->close();
}

void NativeHost::fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token, std::function<void(Result<ByteVector>)> done) {
  net::Request request = net::with_bearer(net::get(blob_path(hash)), token);
  request.timeout = blob_timeout;
  client_.send(std::move(request), [&loop = loop_, bytes_max, done = std::move(done)](Result<net::Response> answer) {
    Result<ByteVector> bytes;
    if (!answer) {
      bytes = pass(std::move(answer));
    } else if (!answer->ok()) {
      bytes = std::unexpected(net::error_of(*answer));
    } else if (answer->body.size() > bytes_max) {
      bytes = fail(ErrorCode::resource_exhausted, "The blob has {} bytes; at most {} are taken.", answer->body.size(), bytes_max);
    } else {
      bytes = ByteVector(answer->body.begin(), answer->body.end());
    }
    loop.post([done, bytes = std::move(bytes)]() mutable { done(std::move(bytes)); });
  });
}

void NativeHost::put_blob(const Hash& hash, ByteVector bytes, std::string token, std::function<void(Result<>)> done) {
  net::Request request = net::with_bearer(net::put(blob_path(hash), std::string(as_text(bytes))), token);
  request.timeout = blob_timeout;
  client_.send(std::move(request), [&loop = loop_, done = std::move(done)](Result<net::Response> answer) {
    Result<> stored;
    if (!answer) stored = pass(std::move(answer));
    if (answer && !answer->ok()) stored = std::unexpected(net::error_of(*answer));
    loop.post([done, stored] { done(stored); });
  });
}

}  // namespace weft::worker
