// The session's Host in a browser: WebSocket, fetch and setTimeout of the Worker.
//
// Threading: the Worker's one thread. Lifetime: events after its end are dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "worker/tasks/alive.h"
#include "worker/tasks/host.h"

namespace weft::worker::web {

class WebHost final : public Host {
 public:
  // `origin` is "https://host:7300"; `path` is that of the WebSocket.
  explicit WebHost(std::string origin, std::string path = "/v1/worker")
      : origin_(std::move(origin)), path_(std::move(path)) {}
  ~WebHost() override { close(); }

  void connect(SocketEvents events) override;
  void send_text(std::string text) override;
  void send_binary(ByteVector bytes) override;
  void close() override;
  void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                  std::function<void(Result<ByteVector>)> done) override;
  void put_blob(const Hash& hash, ByteVector bytes, std::string token,
                std::function<void(Result<>)> done) override;
  void after(Duration delay, std::function<void()> work) override;
  [[nodiscard]] Instant now() override { return weft::now(); }
  [[nodiscard]] double random() override;

  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  [[nodiscard]] std::string blob_url(const Hash& hash) const {
    return origin_ + "/v1/blobs/" + hash.text();
  }

  const std::string origin_;
  const std::string path_;
  std::uint32_t socket_ = 0;  // Number of the socket; 0: none.
  std::shared_ptr<SocketEvents>
      // Callbacks of the current socket; emptied when it is dropped, so that no event follows.
      events_;
};

}  // namespace weft::worker::web
