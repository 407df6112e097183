// The session's Host over net::Client and a RunLoop.
#pragma once

#include <memory>
#include <random>

#include "apps/worker/host.h"
#include "apps/worker/run_loop.h"
#include "service/net/client.h"

namespace weft::worker {

// Threading: the loop's thread; the client's callbacks are brought there. Lifetime: the loop outlives the client, the client
// this.
class NativeHost final : public Host {
 public:
  NativeHost(RunLoop& loop, net::Client& client) : loop_(loop), client_(client) {}

  void connect(SocketEvents events) override;
  void send_text(std::string text) override;
  void send_binary(ByteVector bytes) override;
  void close() override;
  void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token, std::function<void(Result<ByteVector>)> done) override;
  void put_blob(const Hash& hash, ByteVector bytes, std::string token, std::function<void(Result<>)> done) override;
  void after(Duration delay, std::function<void()> work) override { loop_.after(delay, std::move(work)); }
  [[nodiscard]] Instant now() override { return weft::now(); }
  [[nodiscard]] double random() override { return std::uniform_real_distribution<>(0, 1)(random_); }

 private:
  RunLoop& loop_;
  net::Client& client_;
  std::shared_ptr<net::Socket> socket_;
  std::shared_ptr<std::uint64_t> generation_ = std::make_shared<std::uint64_t>(0);  // Of the socket; looked at on the loop only.
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace weft::worker
