#include "decisions/inference/auditable.h"

#include <algorithm>
#include <set>
#include <vector>

namespace weft::inference {

bool is_auditable(const DeskTables& tables, const ModelCard& card) {
  const std::uint64_t all =
      shard_bytes(card, 0, card.layers, tables.shards.context_of(card), tables.settings.sequences);
  std::set<ServingId> alone;
  for (const auto& [session, worker] : tables.workers.all()) {
    if (!tables.workers.is_trusted(session)) continue;
    const bool holds = tables.shards.any_of(worker, [&](const Shard& shard) {
      return shard.model == card.name && shard.begin == 0 && shard.end == card.layers;
    });
    if (holds || tables.shards.memory_beside(worker) >= all) alone.insert(session);
  }
  std::vector<std::set<ServingId>> chains;
  for (const auto& [id, chain] : tables.chains.all()) {
    if (chain.model == card.name && chain.state == ChainState::ready &&
        tables.chains.is_trusted(chain))
      chains.push_back(chain.workers());
  }
  if (chains.empty()) return alone.size() > card.shards_min;
  return std::ranges::all_of(chains, [&](const auto& members) {
    const auto outside = [&](ServingId worker) { return !members.contains(worker); };
    return std::ranges::any_of(alone, outside) ||
           std::ranges::any_of(
               chains, [&](const auto& other) { return std::ranges::all_of(other, outside); });
  });
}

}  // namespace weft::inference
