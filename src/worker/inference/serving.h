// A worker's connection to the coordinator's /v1/serve. It reports its free memory, loads the
// shards and joins the chains that the coordinator orders, and answers requests.
//
//   Serving serving(host, {.memory_bytes = ..., .gb_per_s = ...});
//   serving.join(welcome.blob_token);      after every Welcome of the session on /v1/worker
//   serving.leave();
//
// Shards stay on the device after a loss of the connection, so that the next order for them is
// fulfilled at once. Threading: the host's thread. Lifetime: the host outlives the Serving, which
// may be destroyed at any time except inside one of its events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/crypto/keys.h"
#include "worker/inference/peer_lines.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

class Serving {
 public:
  struct Options {
    std::uint64_t memory_bytes = 0;
    double gb_per_s = 0;
    std::vector<std::string> lines{};
    PeerLines* peers = nullptr;  // The peers must outlive this object.
    // Signs the worker's frames (frame_logs.h); outlives this object.
    crypto::Signer* signer = nullptr;
    Duration retry = std::chrono::milliseconds(500);
    Duration line_patience =
        std::chrono::seconds(3);  // Maximum time for a link to open; then the coordinator relays.
  };
  struct Stats {
    bool connected = false;
    std::uint32_t shards = 0;
    std::uint32_t running = 0;  // The number of running requests.
    std::uint64_t tokens = 0;   // The number of tokens drawn by this worker.
    std::uint64_t relayed_bytes = 0, direct_bytes = 0, direct_hops = 0;
  };

  Serving(ServingHost& host, Options options);
  ~Serving();
  Serving(const Serving&) = delete;

  void join(std::string token);
  void leave();
  [[nodiscard]] Stats stats() const;

 private:
  class Worker;
  std::shared_ptr<Worker> worker_;
};

}  // namespace weft::worker
