#include "decisions/inference/standby.h"

#include <algorithm>
#include <set>
#include <vector>

namespace weft::inference {

bool Standby::is_covered(const Chain& chain, const ChainMember& member, bool ready) const {
  return std::ranges::any_of(tables_.shards.all(), [&](const auto& entry) {
    const Shard& shard = entry.second;
    if (!shard.can_take(chain.model, member.begin, member.end)) return false;
    if (chain.member_of(shard.worker) != nullptr) return false;
    return ready ? !shard.chain && shard.loaded : !tables_.chains.contains(shard.chain);
  });
}

bool Standby::stands_by(const Shard& shard, const std::string& model) const {
  return !shard.chain && shard.model == model && !serves_audits_alone(shard);
}

bool Standby::serves_audits_alone(const Shard& shard) const {
  if (shard.weighs) return true;
  const auto model = tables_.models.find(shard.model);
  if (model == tables_.models.end() || shard.begin != 0 || shard.end != model->second.layers)
    return false;
  if (shard.chain && tables_.chains.contains(shard.chain)) return false;
  return std::ranges::any_of(tables_.chains.all(), [&](const auto& entry) {
    return entry.second.model == shard.model && entry.second.members.size() > 1;
  });
}

void Standby::stand_by(const std::string& name) {
  for (const auto& [id, shard] : tables_.shards.all()) {
    if (stands_by(shard, name) && !shard.loaded) return;
  }
  for (const auto& [id, chain] : tables_.chains.all()) {
    if (chain.model != name || chain.state != ChainState::ready || chain.retiring) continue;
    // Begins with the last member, whose layers take the longest to compile.
    for (auto member = chain.members.rbegin(); member != chain.members.rend(); ++member) {
      if (is_covered(chain, *member, false)) continue;
      const auto worker = worker_for(chain, *member);
      if (!worker) continue;
      tables_.shards.load(*worker, {}, name, member->begin, member->end);
      return;
    }
  }
}

std::optional<ServingId> Standby::worker_for(const Chain& chain, const ChainMember& member) const {
  std::vector<Candidate> standing, idle;
  for (Candidate& one :
       tables_.shards.candidates(chain.workers(), chain.trusted ? Whom::trusted : Whom::all)) {
    const ServingWorker& worker = tables_.workers.at(one.session);
    bool holds = false, other = false;
    for (const ShardId id : worker.shards) {
      const Shard& shard = tables_.shards.at(id);
      if (stands_by(shard, chain.model)) {
        holds = true;
      } else {
        other = other || !serves_audits_alone(shard);
      }
    }
    if (other) continue;
    // Only the memory that no shard uses counts. Standby layers and whole models for audits make
    // room for a chain, but not for more standby layers.
    one.memory_free = tables_.shards.memory_beside(worker);
    (holds ? standing : idle).push_back(one);
  }
  const ModelCard& card = tables_.models.at(chain.model);
  const auto worker = tables_.shards.place(card, member.begin, member.end, standing);
  return worker ? worker : tables_.shards.place(card, member.begin, member.end, idle);
}

void Standby::leave(ServingId session) {
  for (const ShardId shard : std::set(tables_.workers.at(session).shards)) {
    if (!tables_.shards.at(shard).chain) tables_.shards.unload(shard);
  }
}

bool Standby::take(ChainId id, ChainMember& member) {
  const Chain& chain = tables_.chains.at(id);
  ShardId best;
  for (const auto& [number, shard] : tables_.shards.all()) {
    if (shard.chain || !shard.can_take(chain.model, member.begin, member.end)) continue;
    if (chain.member_of(shard.worker) != nullptr) continue;
    if (chain.trusted && !tables_.workers.is_trusted(shard.worker)) continue;
    if (best && (tables_.shards.at(best).loaded || !shard.loaded)) continue;
    best = number;
  }
  if (!best) return false;
  tables_.shards.give(best, id);
  member.shard = best;
  member.worker = tables_.shards.at(best).worker;
  member.linked = false;
  leave(member.worker);
  return true;
}

void Standby::refused(ShardId id) {
  ServingWorker& worker = tables_.workers.at(tables_.shards.at(id).worker);
  tables_.shards.unload(id);
  std::uint64_t held = 0;
  for (const ShardId shard : worker.shards) held += tables_.shards.at(shard).bytes;
  worker.offer.memory_bytes = std::min(worker.offer.memory_bytes, held);
}

}  // namespace weft::inference
