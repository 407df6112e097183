// A worker's line to the coordinator's /v1/serve: it says what it has room for, loads the shards it
// is told to, takes its place in chains, and answers what it is asked.
//
//   Serving serving(host, {.memory_bytes = ..., .gb_per_s = ...});
//   serving.join(welcome.blob_token);      after every Welcome of the session on /v1/worker
//   serving.leave();
//
// Shards stay on the device over a loss of the connection, so that the next order for them is
// obeyed at once. Threading: the host's thread. Lifetime: the host outlives it; may be destroyed at
// any time except inside one of its events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/crypto/keys.h"
#include "common/protocol/serving.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

// Hops that do not go over the coordinator. If no line to a member opens, the
// coordinator relays.
class PeerLines {
 public:
  virtual ~PeerLines() = default;
  struct Other {
    std::uint32_t member = 0;
    std::string line{};   // As it offered it: "webrtc", "tcp://...".
    std::string token{};  // The token of these two, for this epoch.
  };
  struct Chain {
    std::uint32_t chain = 0;
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;  // This worker's index.
    std::vector<Other> others{};
    std::vector<protocol::serving::IceServer> ice{};
  };
  struct Events {
    std::function<void(std::uint32_t to, std::string signal)>
        signal;  // To be passed to that member.
    std::function<void(std::uint32_t member, ByteVector frame)> frame;
    std::function<void(std::uint32_t member, std::string_view line)> open;
    std::function<void(std::uint32_t member)> closed;  // Also of one that never opened.
  };
  // Prepares lines to the others; the one of each pair with the smaller number calls. Replaces what
  // was there for the chain.
  virtual void open(Chain chain, Events events) = 0;
  virtual void signal(std::uint32_t chain, std::uint32_t epoch, std::uint32_t from,
                      std::string text) = 0;
  // False where there is no line to that member.
  [[nodiscard]] virtual bool send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) = 0;
  virtual void close(std::uint32_t chain) = 0;
};

class Serving {
 public:
  struct Options {
    std::uint64_t memory_bytes = 0;
    double gb_per_s = 0;
    std::vector<std::string> lines{};
    PeerLines* peers = nullptr;        // Outlives it.
    crypto::Signer* signer = nullptr;  // Signs its frames (frame_logs.h); outlives it.
    Duration retry = std::chrono::milliseconds(500);
    Duration line_patience =
        std::chrono::seconds(3);  // How long a line may take to open before it is done without.
  };
  struct Stats {
    bool connected = false;
    std::uint32_t shards = 0;
    std::uint32_t running = 0;  // Requests.
    std::uint64_t tokens = 0;   // Drawn here.
    std::uint64_t relayed_bytes = 0, direct_bytes = 0, direct_hops = 0;
  };

  Serving(ServingHost& host, Options options);
  ~Serving();
  Serving(const Serving&) = delete;

  void join(std::string token);
  void leave();
  [[nodiscard]] Stats stats() const;

 private:
  class Line;
  std::shared_ptr<Line> line_;
};

}  // namespace weft::worker
