#include "decisions/inference/shard_table.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/proof/smaller_weights.h"
#include "decisions/inference/arithmetic.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::inference {

namespace wire = protocol::serving;

std::uint32_t ShardTable::context_of(const ModelCard& card) const {
  return std::min(card.context, settings_.context_max);
}

ShardId ShardTable::load(ServingId worker, ChainId chain, const std::string& model,
                         std::uint32_t begin, std::uint32_t end) {
  const ModelCard& card = models_.at(model);
  const ShardId id = ++ids_;
  const std::uint32_t context = context_of(card);
  const auto bytes_of = [&](std::uint32_t sequences) {
    return shard_bytes(card, begin, end, context, sequences);
  };
  // A shard gets memory for settings_.sequences requests, and for more of them a share
  // (cache_share) of the remaining memory. A worker with all layers shares its cache between
  // requests. A part of a chain has room for each request at full length, because it cannot refuse
  // a request that the first member accepts.
  std::uint64_t bytes = bytes_of(settings_.sequences), cache_bytes = 0;
  std::uint32_t sequences = settings_.sequences;
  const std::uint64_t free = memory_free(workers_.at(worker)),
                      more = static_cast<std::uint64_t>(
                          settings_.cache_share *
                          static_cast<double>(free - std::min(free, bytes)));
  if (begin == 0 && end == card.layers) {
    sequences = std::max(settings_.sequences, settings_.batch);
    bytes = std::min(bytes_of(sequences), bytes + more);
    cache_bytes = bytes - bytes_of(0);
  } else {
    while (sequences * 2 <= settings_.batch &&
           bytes_of(sequences * 2) <= bytes_of(settings_.sequences) + more)
      sequences *= 2;
    bytes = bytes_of(sequences);
  }
  shards_[id] = {
      .worker = worker, .chain = chain, .bytes = bytes, .model = model, .begin = begin, .end = end};
  workers_.at(worker).shards.insert(id);
  wire::Load order = order_of(id, card);
  order.sequences = sequences;
  order.cache_bytes = cache_bytes;
  order.activations = activations_of(card, settings_.activations);
  world_.send(worker, order);
  return id;
}

wire::Load ShardTable::order_of(ShardId id, const ModelCard& card) const {
  const Shard& shard = shards_.at(id);
  return {.shard = id.number(),
          .name = card.name,
          .model = card.file_hash(),
          .bytes = card.bytes,
          .header_bytes = card.header_bytes,
          .chunk_bytes = card.chunk_bytes,
          .chunks = card.chunks_hash(),
          .first_layer = shard.begin,
          .end_layer = shard.end,
          .context = context_of(card)};
}

ShardId ShardTable::load_to_weigh(ServingId worker, ChainId audit, const std::string& model) {
  const ModelCard& card = models_.at(model);
  const ShardId id = ++ids_;
  shards_[id] = {.worker = worker,
                 .chain = audit,
                 .bytes = bytes_to_weigh(card),
                 .model = model,
                 .begin = 0,
                 .end = card.layers,
                 .weighs = true};
  workers_.at(worker).shards.insert(id);
  wire::Load order = order_of(id, card);
  order.sequences = 1;
  order.activations = "f32";
  order.beside = proof::smaller_format;
  world_.send(worker, order);
  return id;
}

// Q8_0 takes 34 bytes for 32 weights, which take 64 bytes in F16 and BF16 and 128 in F32. Tensors
// that are not rounded are small.
std::uint64_t ShardTable::bytes_to_weigh(const ModelCard& card) const {
  const std::uint32_t context = context_of(card);
  const std::uint64_t weights = shard_bytes(card, 0, card.layers, context, 0);
  const std::uint64_t caches = shard_bytes(card, 0, card.layers, context, 1) - weights;
  return weights + weights / 64 * 34 + 34 + 2 * caches;
}

bool ShardTable::is_weighable(const ModelCard& card) const {
  return card.weights == store::WeightWidth::wide &&
         activations_of(card, settings_.activations) != "int8" && !makes_vectors(card) &&
         !is_onnx(card);
}

void ShardTable::unload(ShardId id) {
  const auto found = shards_.find(id);
  if (found == shards_.end()) return;
  made_room();
  if (ServingWorker* const worker = workers_.find(found->second.worker)) {
    worker->shards.erase(id);
    world_.send(found->second.worker, wire::Unload{.shard = id.number()});
  }
  shards_.erase(found);
}

bool ShardTable::loaded(ServingId session, const wire::Loaded& message) {
  const auto found = shards_.find(ShardId(message.shard));
  if (found == shards_.end() || found->second.worker != session) return false;
  Shard& shard = found->second;
  shard.loaded = true;
  shard.exact = message.device == "cpu";
  shard.sequences = message.sequences;
  // If the worker takes fewer requests than planned, the memory for their cache is free again.
  if (message.sequences > 0 && !shard.weighs) {
    const ModelCard& card = models_.at(shard.model);
    shard.bytes =
        std::min(shard.bytes, shard_bytes(card, shard.begin, shard.end, context_of(card),
                                          std::max(settings_.sequences, message.sequences)));
    made_room();
  }
  return true;
}

void ShardTable::give(ShardId id, ChainId chain) {
  check(!shards_.at(id).weighs, "a shard that weighs answers gives none");
  lend(id, chain);
}

void ShardTable::lend(ShardId id, ChainId audit) {
  shards_.at(id).chain = audit;
  if (!audit) made_room();
}

const Shard* ShardTable::find(ShardId id) const {
  const auto found = shards_.find(id);
  return found == shards_.end() ? nullptr : &found->second;
}

std::vector<ShardId> ShardTable::of_model(const std::string& model) const {
  std::vector<ShardId> out;
  for (const auto& [id, shard] : shards_) {
    if (shard.model == model) out.push_back(id);
  }
  return out;
}

bool ShardTable::any_of(const ServingWorker& worker,
                        const std::function<bool(const Shard&)>& is) const {
  return std::ranges::any_of(worker.shards, [&](ShardId id) { return is(shards_.at(id)); });
}

std::uint64_t ShardTable::memory_free(const ServingWorker& worker) const {
  std::uint64_t used = 0;
  for (const ShardId id : worker.shards) {
    const Shard& shard = shards_.at(id);
    if (shard.chain) used += shard.bytes;
  }
  return worker.offer.memory_bytes - std::min(used, worker.offer.memory_bytes);
}

std::uint64_t ShardTable::memory_beside(const ServingWorker& worker) const {
  std::uint64_t used = 0;
  for (const ShardId id : worker.shards) used += shards_.at(id).bytes;
  return worker.offer.memory_bytes - std::min(used, worker.offer.memory_bytes);
}

std::vector<Candidate> ShardTable::candidates(const std::set<ServingId>& except, Whom whom) const {
  std::vector<Candidate> out;
  for (const auto& [session, worker] : workers_.all()) {
    if (whom != Whom::all && workers_.is_trusted(session) != (whom == Whom::trusted)) continue;
    if (except.contains(session)) continue;
    out.push_back(
        {.session = session,
         .memory_free = memory_free(worker),
         .gb_per_s = workers_.speed_of(worker),
         .load = static_cast<std::uint32_t>(std::ranges::count_if(
             worker.shards, [&](ShardId id) { return static_cast<bool>(shards_.at(id).chain); })),
         .prefers_peers = !worker.offer.lines.empty()});
  }
  return out;
}

std::optional<ServingId> ShardTable::place(const ModelCard& card, std::uint32_t begin,
                                           std::uint32_t end,
                                           std::span<const Candidate> candidates) const {
  return place_shard(card, begin, end, candidates, context_of(card), settings_.sequences);
}

std::string ShardTable::inconsistency() const {
  for (const auto& [session, worker] : workers_.all()) {
    for (const ShardId id : worker.shards) {
      const Shard* const shard = find(id);
      if (shard == nullptr) return weft::format("worker {} has no shard {}", session, id.number());
      if (shard->worker != session)
        return weft::format("shard {} of worker {} is entered for worker {}", id.number(), session,
                            shard->worker);
    }
  }
  for (const auto& [id, shard] : shards_) {
    const ServingWorker* const worker = workers_.find(shard.worker);
    if (worker == nullptr || !worker->shards.contains(id))
      return weft::format("shard {} is on worker {}, which does not have it", id.number(),
                          shard.worker);
    const auto model = models_.find(shard.model);
    if (model == models_.end())
      return weft::format("shard {} has no model {}", id.number(), shard.model);
    if (shard.begin >= shard.end || shard.end > model->second.layers)
      return weft::format("shard {} has layers {} to {}", id.number(), shard.begin, shard.end);
  }
  return {};
}

}  // namespace weft::inference
