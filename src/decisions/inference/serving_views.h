// Views of the desk's state: models, workers, chains and counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inference {

// The state of a model's serving.
enum class ModelState : std::uint8_t {
  unknown,  // The desk does not know the model.
  no_worker,
  loading,
  ready,
  newcomers,  // Ready, but by newcomers alone: clients that ask for trusted workers get no answer.
  as_jobs,    // Requests run as jobs: no worker serves the model.
};
enum class ChainState : std::uint8_t { loading, linking, ready };
// The words for states in documents, for example "no worker" or "loading"; empty for unknown.
[[nodiscard]] std::string_view word(ModelState state);
[[nodiscard]] std::string_view word(ChainState state);

struct ServedModel {
  std::string name;
  ModelState state = ModelState::unknown;
  std::uint32_t chains = 0, shards = 0, waiting = 0, running = 0;
  std::uint32_t trusted = 0;  // Ready chains that have only trusted workers.
  std::uint32_t covered = 0;  // Shards that a standby worker could take over at once.
  std::string wire;           // The type of hidden states between the model's workers.
  // True if all chains of the model consist of processors: see protocol::serving::Link.
  bool exact = false;
  bool auditable = false;  // True if other workers can audit any answer of trusted workers.
  // True if audits look for weights that were rounded to Q8_0 as soon as a root can weigh answers.
  bool weighable = false;
  bool weighed = false;  // True if a root can weigh answers now.
};
struct ServedPeer {
  std::string key;
  double ms = 0;  // One-way time of the line in milliseconds.
};
struct ServedWorker {
  std::string key;
  std::uint64_t memory_bytes = 0, memory_free = 0;
  std::uint32_t shards = 0, running = 0;
  double load = 0;
  double gb_per_s = 0;  // The speed of the worker's layers; the offered one until one is measured.
  double coordinator_ms = 0;  // The one-way time to the coordinator; 0: unknown.
  std::uint64_t direct_hops = 0;
  std::vector<std::string> lines{};
  std::vector<ServedPeer> peers{};
};
struct ServedMember {
  std::string key;
  std::uint32_t begin = 0, end = 0;  // The layers from begin up to but not including end.
  double ms = 0;                     // A token's time in the member's layers; 0: unknown.
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
                plans = 0;  // Attempts to form a chain, failed ones included.
};

}  // namespace weft::inference
