// The shards, each a range of a model's layers on a worker, and the memory that is left. A shard
// belongs to a chain, an audit or a search, or stands by.
//
// Not for several threads. Invariant: a shard is on a worker that is connected and lists it, and
// its model exists; inconsistency() reports a shard that breaks this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/serving.h"
#include "decisions/inference/desk_settings.h"
#include "decisions/inference/desk_world.h"
#include "decisions/inference/model_card.h"
#include "decisions/inference/placement.h"
#include "decisions/inference/serving_ids.h"
#include "decisions/inference/serving_workers.h"

namespace weft::inference {

// The cards of models by name.
using ModelCards = std::map<std::string, ModelCard>;

struct Shard {
  ServingId worker = 0;
  ChainId chain{};  // The owner: a chain, audit or search. None if the shard stands by.
  std::uint64_t bytes = 0;
  bool loaded = false;
  bool exact = false;  // True if it runs on a processor: see protocol::serving::Link::exact.
  // The number of requests at a time that its worker reported; 0: unknown.
  std::uint32_t sequences = 0;
  std::string model{};
  std::uint32_t begin = 0, end = 0;  // The layers from begin up to but not including end.
  // True if the shard weighs answers in audits (protocol::serving::Load::beside). Such a shard is
  // never a member of a chain that answers.
  bool weighs = false;

  // True if the shard can take a place for these layers in a chain or in an audit without weighing.
  [[nodiscard]] bool can_take(std::string_view of, std::uint32_t first, std::uint32_t last) const {
    return !weighs && model == of && begin == first && end == last;
  }
};

// The workers that may be chosen.
enum class Whom : std::uint8_t { all, trusted, newcomers };

class ShardTable {
 public:
  ShardTable(DeskWorld& world, const DeskSettings& settings, const ModelCards& models,
             ServingWorkers& workers)
      : world_(world), settings_(settings), models_(models), workers_(workers) {}

  // Tells the worker to load layers [begin, end) of the model.
  ShardId load(ServingId worker, ChainId chain, const std::string& model, std::uint32_t begin,
               std::uint32_t end);
  // Tells the worker to load the whole model twice, also with rounded weights, for `audit`.
  ShardId load_to_weigh(ServingId worker, ChainId audit, const std::string& model);
  void unload(ShardId id);
  // Call it when a worker reports that it has loaded a shard. Returns false if the shard is not the
  // worker's.
  [[nodiscard]] bool loaded(ServingId session, const protocol::serving::Loaded& message);
  // Forgets a shard whose worker has left.
  void forget(ShardId id) { shards_.erase(id); }
  // Gives the shard to `chain` from now on. If `chain` names none, the shard stands by. A shard
  // that weighs answers is lent to audits alone.
  void give(ShardId id, ChainId chain);
  void lend(ShardId id, ChainId audit);

  [[nodiscard]] const Shard* find(ShardId id) const;
  [[nodiscard]] const Shard& at(ShardId id) const { return shards_.at(id); }
  [[nodiscard]] const std::map<ShardId, Shard>& all() const { return shards_; }
  [[nodiscard]] std::vector<ShardId> of_model(const std::string& model) const;
  // True if `is` returns true for one of the worker's shards.
  [[nodiscard]] bool any_of(const ServingWorker& worker,
                            const std::function<bool(const Shard&)>& is) const;

  // The worker's memory that its chains, audits and searches do not use. Shards that only stand by
  // count as free, because they make room.
  [[nodiscard]] std::uint64_t memory_free(const ServingWorker& worker) const;
  // The worker's memory that no shard uses.
  [[nodiscard]] std::uint64_t memory_beside(const ServingWorker& worker) const;
  // The workers that could take a shard, without those in `except`.
  [[nodiscard]] std::vector<Candidate> candidates(const std::set<ServingId>& except,
                                                  Whom whom = Whom::all) const;
  // The best candidate for layers [begin, end) of the model.
  [[nodiscard]] std::optional<ServingId> place(const ModelCard& card, std::uint32_t begin,
                                               std::uint32_t end,
                                               std::span<const Candidate> candidates) const;
  // The bytes of a shard that weighs the model's answers: one sequence of each of its two engines.
  [[nodiscard]] std::uint64_t bytes_to_weigh(const ModelCard& card) const;
  // True if answers of the model are weighed if an auditor can: its weights are wide, and its
  // activations are not int8.
  [[nodiscard]] bool is_weighable(const ModelCard& card) const;
  // The number of positions of a request of this model.
  [[nodiscard]] std::uint32_t context_of(const ModelCard& card) const;
  // Counts how often a worker joined or memory became free.
  [[nodiscard]] std::uint64_t room() const { return room_; }
  void made_room() { ++room_; }

  [[nodiscard]] std::string inconsistency() const;

 private:
  // The order to load a shard, without its sequences and arithmetic.
  [[nodiscard]] protocol::serving::Load order_of(ShardId id, const ModelCard& card) const;

  DeskWorld& world_;
  const DeskSettings& settings_;
  const ModelCards& models_;
  ServingWorkers& workers_;
  std::map<ShardId, Shard> shards_;
  ShardId ids_;
  std::uint64_t room_ = 0;
};

}  // namespace weft::inference
