// Which worker holds which layers of which model, and the memory that is left: the shards of
// chains, of audits and searches, and of workers that stand by.
//
// Not for several threads. Invariant: a shard is on a worker that is connected and knows of it, and
// its model exists; inconsistency() says so if not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/protocol/serving.h"
#include "decisions/inference/desk_settings.h"
#include "decisions/inference/desk_world.h"
#include "decisions/inference/model_card.h"
#include "decisions/inference/placement.h"
#include "decisions/inference/serving_ids.h"
#include "decisions/inference/serving_workers.h"

namespace weft::inference {

// Models by their names.
using ModelCards = std::map<std::string, ModelCard>;

struct Shard {
  ServingId worker = 0;
  ChainId chain{};  // A chain's, or an audit's or a search's own number; none: it stands by.
  std::uint64_t bytes = 0;
  bool loaded = false;
  bool exact = false;           // On a processor: see protocol::serving::Link.
  std::uint32_t sequences = 0;  // Requests that it said it answers at a time; 0: nothing.
  std::string model{};
  std::uint32_t begin = 0, end = 0;  // Layers.
};

// Workers that may be chosen.
enum class Whom : std::uint8_t { all, trusted, newcomers };

class ShardTable {
 public:
  ShardTable(DeskWorld& world, const DeskSettings& settings, const ModelCards& models,
             ServingWorkers& workers)
      : world_(world), settings_(settings), models_(models), workers_(workers) {}

  // Has the worker load layers [begin, end) of the model.
  ShardId load(ServingId worker, ChainId chain, const std::string& model, std::uint32_t begin,
               std::uint32_t end);
  void unload(ShardId id);
  // The worker said that it has loaded it. False for a shard that is not its own.
  [[nodiscard]] bool loaded(ServingId session, const protocol::serving::Loaded& message);
  // Its worker is gone.
  void forget(ShardId id) { shards_.erase(id); }
  // It belongs to this chain from now on; none: it stands by.
  void give(ShardId id, ChainId chain);

  [[nodiscard]] const Shard* find(ShardId id) const;
  [[nodiscard]] const Shard& at(ShardId id) const { return shards_.at(id); }
  [[nodiscard]] const std::map<ShardId, Shard>& all() const { return shards_; }
  [[nodiscard]] std::vector<ShardId> of_model(const std::string& model) const;
  // Whether `is` holds for one of the worker's shards.
  [[nodiscard]] bool any_of(const ServingWorker& worker,
                            const std::function<bool(const Shard&)>& is) const;

  // Memory beside the shards of chains: a worker that only stands by makes room.
  [[nodiscard]] std::uint64_t memory_free(const ServingWorker& worker) const;
  // Memory beside all of its shards.
  [[nodiscard]] std::uint64_t memory_beside(const ServingWorker& worker) const;
  // Workers that could take a shard, without those of `except`.
  [[nodiscard]] std::vector<Candidate> candidates(const std::set<ServingId>& except,
                                                  Whom whom = Whom::all) const;
  // The best of the candidates for layers [begin, end) of the model.
  [[nodiscard]] std::optional<ServingId> place(const ModelCard& card, std::uint32_t begin,
                                               std::uint32_t end,
                                               std::span<const Candidate> candidates) const;
  // Positions that a request of this model has.
  [[nodiscard]] std::uint32_t context_of(const ModelCard& card) const;
  // How often room was made: a worker joined, memory became free.
  [[nodiscard]] std::uint64_t room() const { return room_; }
  void made_room() { ++room_; }

  [[nodiscard]] std::string inconsistency() const;

 private:
  DeskWorld& world_;
  const DeskSettings& settings_;
  const ModelCards& models_;
  ServingWorkers& workers_;
  std::map<ShardId, Shard> shards_;
  ShardId ids_;
  std::uint64_t room_ = 0;
};

}  // namespace weft::inference
