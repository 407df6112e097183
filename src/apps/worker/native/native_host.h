// The session's Host on a native worker: WebSocket, HTTP and timers of one net::Client, whose
// event-loop thread is the session's.
//
// Threading: constructed on any thread; everything else on the client's thread. Lifetime: the
// client outlives this object.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "platform/net/client.h"
#include "worker/tasks/host.h"

namespace weft::worker {

class NativeHost final : public Host {
 public:
  // `path` is the path of the WebSocket.
  explicit NativeHost(net::Client& client, std::string path = "/v1/worker");
  ~NativeHost() override;

  void connect(SocketEvents events) override;
  void send_text(std::string text) override;
  void send_binary(ByteVector bytes) override;
  void close() override;
  void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                  std::function<void(Result<ByteVector>)> done) override;
  void put_blob(const Hash& hash, ByteVector bytes, std::string token,
                std::function<void(Result<>)> done) override;
  void after(Duration delay, std::function<void()> work) override;
  [[nodiscard]] Instant now() override;
  [[nodiscard]] double random() override;

 private:
  void drop_socket();

  net::Client& client_;
  const std::string path_;
  std::shared_ptr<net::Socket> socket_;
  std::shared_ptr<SocketEvents>
      // Callbacks of the current socket; emptied when it is dropped, so that no event follows.
      events_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace weft::worker
