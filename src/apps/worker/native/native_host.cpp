#include "apps/worker/native/native_host.h"

#include <utility>

#include "apps/worker/native/blob_requests.h"

namespace weft::worker {
namespace {

constexpr Duration blob_timeout = std::chrono::minutes(5);

std::string blob_path(const Hash& hash) { return "/v1/blobs/" + hash.text(); }

}  // namespace

NativeHost::NativeHost(net::Client& client, std::string path)
    : client_(client), path_(std::move(path)) {}

NativeHost::~NativeHost() { drop_socket(); }

void NativeHost::drop_socket() {
  if (events_) *events_ = {};
  if (socket_) socket_->close();
  socket_.reset();
  events_.reset();
}

void NativeHost::connect(SocketEvents events) {
  drop_socket();
  events_ = std::make_shared<SocketEvents>(std::move(events));
  // Copies the callback before it runs, because the callback may drop the socket, and with the
  // socket the callback.
  const auto call = [kept = events_](auto member, auto... arguments) {
    if (auto event = (*kept).*member) event(std::move(arguments)...);
  };
  socket_ = client_.connect(
      path_, {.open = [call] { call(&SocketEvents::open); },
              .text = [call](std::string text) { call(&SocketEvents::text, std::move(text)); },
              .binary = [call](ByteVector bytes) { call(&SocketEvents::binary, std::move(bytes)); },
              .closed = [call](const Error& why) { call(&SocketEvents::closed, why.message); }});
}

void NativeHost::send_text(std::string text) {
  if (socket_) socket_->send_text(std::move(text));
}

void NativeHost::send_binary(ByteVector bytes) {
  if (socket_) socket_->send_binary(std::move(bytes));
}

void NativeHost::close() { drop_socket(); }

void NativeHost::fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                            std::function<void(Result<ByteVector>)> done) {
  // The range has one byte more than allowed, which shows that the blob is too large; the
  // coordinator sends no more.
  net::Request request = net::with_bearer(net::get_range(blob_path(hash), 0, bytes_max + 1), token);
  request.timeout = blob_timeout;
  send_for_blob(
      client_, std::move(request),
      [bytes_max, done = std::move(done)](Result<net::Response> answer) {
        if (!answer) return done(std::unexpected(std::move(answer).error()));
        // The answer to a range of an empty blob.
        if (answer->status == 416) return done(ByteVector{});
        if (!answer->ok()) return done(std::unexpected(net::error_of(*answer)));
        if (answer->body.size() > bytes_max) {
          return done(fail(ErrorCode::resource_exhausted,
                           "The blob has more than {} bytes, the most that are read.", bytes_max));
        }
        const ByteSpan bytes = as_bytes(std::string_view(answer->body));
        done(ByteVector(bytes.begin(), bytes.end()));
      });
}

void NativeHost::put_blob(const Hash& hash, ByteVector bytes, std::string token,
                          std::function<void(Result<>)> done) {
  net::Request request =
      net::with_bearer(net::put(blob_path(hash), std::string(as_text(bytes))), token);
  request.timeout = blob_timeout;
  send_for_blob(client_, std::move(request),
                [done = std::move(done)](Result<net::Response> answer) {
                  if (!answer) return done(std::unexpected(std::move(answer).error()));
                  if (!answer->ok()) return done(std::unexpected(net::error_of(*answer)));
                  done({});
                });
}

void NativeHost::after(Duration delay, std::function<void()> work) {
  client_.after(delay, std::move(work));
}

Instant NativeHost::now() { return weft::now(); }

double NativeHost::random() { return std::uniform_real_distribution<double>(0, 1)(random_); }

}  // namespace weft::worker
