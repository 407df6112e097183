// What the desk shows of itself: models, workers, chains and counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inference {

// How far a model is served.
enum class ModelState : std::uint8_t {
  unknown,  // The desk does not have it.
  no_worker,
  loading,
  ready,
  newcomers,  // Ready, by newcomers alone: no client that asks for trusted workers is answered.
  as_jobs,    // A request to it is a job.
};
enum class ChainState : std::uint8_t { loading, linking, ready };
// As documents have them: "no worker", "loading"; empty for unknown.
[[nodiscard]] std::string_view word(ModelState state);
[[nodiscard]] std::string_view word(ChainState state);

struct ServedModel {
  std::string name;
  ModelState state = ModelState::unknown;
  std::uint32_t chains = 0, shards = 0, waiting = 0, running = 0;
  std::uint32_t trusted = 0;  // Chains of trusted workers alone, that are ready.
  std::uint32_t covered = 0;  // Shards whose layers a standby worker has ready.
  std::string wire;           // Type of hidden states between its workers.
  bool exact = false;         // All of its chains are of processors: see protocol::serving::Link.
  bool auditable = false;     // Whichever trusted workers answer, others can audit that.
};
struct ServedPeer {
  std::string key;
  double ms = 0;  // One way.
};
struct ServedWorker {
  std::string key;
  std::uint64_t memory_bytes = 0, memory_free = 0;
  std::uint32_t shards = 0, running = 0;
  double load = 0;
  double gb_per_s = 0;        // As its layers go; as it offered, before any went.
  double coordinator_ms = 0;  // One way; 0: not known.
  std::uint64_t direct_hops = 0;
  std::vector<std::string> lines{};
  std::vector<ServedPeer> peers{};
};
struct ServedMember {
  std::string key;
  std::uint32_t begin = 0, end = 0;  // Layers.
  double ms = 0;                     // A token's way through them; 0: not known.
};
struct ServedChain {
  std::string model;
  ChainState state = ChainState::loading;
  std::string transport;
  std::string wire;
  std::uint32_t epoch = 0, running = 0;
  std::vector<ServedMember> members{};
};
struct ServingCounters {
  std::uint64_t requests = 0, tokens = 0, resumed = 0, failed = 0, refused = 0, relayed_hops = 0,
                relayed_bytes = 0, direct_hops = 0, direct_bytes = 0, replanned = 0, audits = 0,
                traces = 0, disputes = 0,
                plans = 0;  // Attempts to form a chain, those that failed too.
};

}  // namespace weft::inference
