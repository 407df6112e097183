#include "decisions/inference/weighing_auditors.h"

#include <algorithm>

namespace weft::inference {

bool WeighingAuditors::may_weigh(ServingId session, const ModelCard& card) const {
  const ServingWorker& worker = tables_.workers.at(session);
  return worker.offer.weighs && tables_.world.is_root(worker.key) &&
         !refusals_.contains({session, card.name});
}

// Layers with which the worker stands by make room, but not shards that weigh other models: two
// models that push each other out would be loaded for each audit.
bool WeighingAuditors::has_room(const ServingWorker& worker, const ModelCard& card) const {
  std::uint64_t used = 0;
  for (const ShardId id : worker.shards) {
    const Shard& shard = tables_.shards.at(id);
    if (shard.chain || shard.weighs) used += shard.bytes;
  }
  return worker.offer.memory_bytes >= used &&
         worker.offer.memory_bytes - used >= tables_.shards.bytes_to_weigh(card);
}

std::optional<ServingId> WeighingAuditors::with_room(const ModelCard& card,
                                                     std::span<const PublicKey> except) const {
  std::optional<ServingId> best;
  for (const auto& [session, worker] : tables_.workers.all()) {
    if (!may_weigh(session, card) || std::ranges::contains(except, worker.key)) continue;
    const bool weighs = tables_.shards.any_of(
        worker, [&](const Shard& shard) { return shard.weighs && shard.model == card.name; });
    if (weighs || !has_room(worker, card)) continue;
    if (!best ||
        tables_.workers.speed_of(worker) > tables_.workers.speed_of(tables_.workers.at(*best)))
      best = session;
  }
  return best;
}

WeighingAuditors::Choice WeighingAuditors::choose(const ModelCard& card,
                                                  std::span<const PublicKey> except,
                                                  std::uint64_t draw, ChainId audit) {
  if (!tables_.shards.is_weighable(card)) return {};
  std::vector<ShardId> able;
  bool busy = false;
  for (const auto& [id, shard] : tables_.shards.all()) {
    if (!shard.weighs || shard.model != card.name || !may_weigh(shard.worker, card) ||
        std::ranges::contains(except, tables_.workers.key(shard.worker)))
      continue;
    busy |= static_cast<bool>(shard.chain);
    // A shard that stands by without being loaded took too long for an earlier audit.
    if (!shard.chain && shard.loaded) able.push_back(id);
  }
  if (!able.empty()) {
    const ShardId shard = able[draw % able.size()];
    tables_.shards.lend(shard, audit);
    return {.shard = shard};
  }
  const auto worker = with_room(card, except);
  if (!worker) return {.busy = busy};
  const std::uint64_t bytes = tables_.shards.bytes_to_weigh(card);
  for (const ShardId id : std::set(tables_.workers.at(*worker).shards)) {
    if (tables_.shards.memory_beside(tables_.workers.at(*worker)) >= bytes) break;
    const Shard& shard = tables_.shards.at(id);
    if (!shard.chain && !shard.weighs) tables_.shards.unload(id);
  }
  return {.shard = tables_.shards.load_to_weigh(*worker, audit, card.name)};
}

bool WeighingAuditors::any(const ModelCard& card) const {
  if (!tables_.shards.is_weighable(card)) return false;
  if (with_room(card, {})) return true;
  return std::ranges::any_of(tables_.shards.all(), [&](const auto& entry) {
    const Shard& shard = entry.second;
    return shard.weighs && shard.loaded && shard.model == card.name &&
           may_weigh(shard.worker, card);
  });
}

void WeighingAuditors::refused(ShardId id) {
  const Shard& shard = tables_.shards.at(id);
  refusals_.emplace(shard.worker, shard.model);
  tables_.shards.unload(id);
}

void WeighingAuditors::forget(ServingId worker) {
  std::erase_if(refusals_, [&](const auto& entry) { return entry.first == worker; });
}

void WeighingAuditors::forget(const std::string& model) {
  std::erase_if(refusals_, [&](const auto& entry) { return entry.second == model; });
}

}  // namespace weft::inference
