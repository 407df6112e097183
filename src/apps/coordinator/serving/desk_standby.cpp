// Who stands by: idle workers that hold the layers of a chain's members, compiled and on the device, so that the place of one that is
// lost is taken at once. One worker stands by for as many members as it has room for.
#include <algorithm>

#include "apps/coordinator/serving/desk.h"

namespace weft::coordinator {

// Whether somebody who is no member of the chain holds, or loads, just these layers.
bool Desk::is_covered(const Chain& chain, const Member& member, bool loaded) const {
  return std::ranges::any_of(shards_, [&](const auto& entry) {
    const Shard& shard = entry.second;
    const bool stands_by = shard.chain == 0 || audit_of_chain(shard.chain) != nullptr;  // Again, after the audit.
    return stands_by && shard.model == chain.model && shard.begin == member.begin && shard.end == member.end && (shard.loaded || !loaded) &&
           !std::ranges::contains(chain.members, shard.worker, &Member::worker);
  });
}

// The next layers for which nobody stands by: one load at a time for each model, since it takes the time of a machine that may also
// be a member's.
void Desk::stand_by(const std::string& name) {
  for (const auto& [id, shard] : shards_) {
    if (shard.chain == 0 && shard.model == name && !shard.loaded) return;
  }
  const ModelCard& card = models_.at(name).card;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != name || chain.state != ChainState::ready || chain.retiring) continue;
    // The last member first: it has the most to compile.
    for (auto member = chain.members.rbegin(); member != chain.members.rend(); ++member) {
      if (is_covered(chain, *member, false)) continue;
      std::vector<Candidate> standing, idle;
      for (Candidate& one : candidates(&chain)) {
        const auto& shards = workers_.at(one.session).shards;
        if (shards.empty()) idle.push_back(one);
        if (shards.empty() || !std::ranges::all_of(shards, [&](std::uint32_t id_of_shard) {
              const Shard& shard = shards_.at(id_of_shard);
              return (shard.chain == 0 && shard.model == name) || serves_audits_alone(shard);
            }))
          continue;
        // A chain takes what those who stand by hold; among these it counts.
        for (const std::uint32_t shard : shards) one.memory_free -= std::min(one.memory_free, shards_.at(shard).bytes);
        standing.push_back(one);
      }
      auto worker = place_shard(card, member->begin, member->end, standing, context_of(card), settings_.sequences);
      if (!worker) worker = place_shard(card, member->begin, member->end, idle, context_of(card), settings_.sequences);
      if (!worker) continue;
      send_load(*worker, 0, name, member->begin, member->end);
      return;
    }
  }
}

void Desk::leave_standby(ServingId session) {
  for (const std::uint32_t shard : std::set(workers_.at(session).shards)) {
    if (shards_.at(shard).chain == 0) unload(shard);
  }
}

// The lost layers, where somebody stands by with just these; who has them ready before who still loads them.
bool Desk::take_standby(ChainId id, Member& member) {
  const Chain& chain = chains_.at(id);
  Shard* best = nullptr;
  for (auto& [number, shard] : shards_) {
    if (shard.chain != 0 || shard.model != chain.model || shard.begin != member.begin || shard.end != member.end) continue;
    if (std::ranges::contains(chain.members, shard.worker, &Member::worker)) continue;
    if (best != nullptr && (best->loaded || !shard.loaded)) continue;
    best = &shard;
    member.shard = number;
  }
  if (best == nullptr) return false;
  best->chain = id;
  member.worker = best->worker;
  member.linked = false;
  leave_standby(member.worker);
  return true;
}

// It has no room for these; what it holds already it keeps.
void Desk::refuse_standby(std::uint32_t id) {
  Worker& worker = workers_.at(shards_.at(id).worker);
  unload(id);
  std::uint64_t held = 0;
  for (const std::uint32_t shard : worker.shards) held += shards_.at(shard).bytes;
  worker.offer.memory_bytes = std::min(worker.offer.memory_bytes, held);
}

}  // namespace weft::coordinator
