// Standby workers: idle workers that hold the layers of a chain's members, compiled and on the
// device, so that the place of one that is lost is taken at once. One worker stands by for as many
// members as it has room for.
#include <algorithm>

#include "decisions/inference/desk.h"

namespace weft::inference {

// Whether a worker that is no member of the chain holds just these layers, ready to take the place
// at once; or else, at least loads them or has lent them to an audit.
bool Desk::is_covered(const Chain& chain, const Member& member, bool ready) const {
  return std::ranges::any_of(shards_, [&](const auto& entry) {
    const Shard& shard = entry.second;
    if (shard.model != chain.model || shard.begin != member.begin || shard.end != member.end)
      return false;
    if (std::ranges::contains(chain.members, shard.worker, &Member::worker)) return false;
    return ready ? !shard.chain && shard.loaded : !chains_.contains(shard.chain);
  });
}

// The next layers for which no worker stands by: one load at a time for each model, since it takes
// the time of a machine that may also be a member's.
void Desk::stand_by(const std::string& name) {
  const auto stands_by = [&](const Shard& shard) {
    return !shard.chain && shard.model == name && !serves_audits_alone(shard);
  };
  for (const auto& [id, shard] : shards_) {
    if (stands_by(shard) && !shard.loaded) return;
  }
  const ModelCard& card = models_.at(name).card;
  for (const auto& [id, chain] : chains_) {
    if (chain.model != name || chain.state != ChainState::ready || chain.retiring) continue;
    // The last member first: it has the most to compile.
    for (auto member = chain.members.rbegin(); member != chain.members.rend(); ++member) {
      if (is_covered(chain, *member, false)) continue;
      std::vector<Candidate> standing, idle;
      for (Candidate& one : candidates(&chain, chain.trusted ? Whom::trusted : Whom::all)) {
        std::uint64_t held =
            0;  // By standing by, which takes no room from chains, but from more of the same.
        bool other = false;
        for (const std::uint32_t number : workers_.at(one.session).shards) {
          const Shard& shard = shards_.at(number);
          if (stands_by(shard)) {
            held += shard.bytes;
          } else {
            other = other || !serves_audits_alone(shard);
          }
        }
        if (other) continue;
        one.memory_free -= std::min(one.memory_free, held);
        (held > 0 ? standing : idle).push_back(one);
      }
      auto worker = place_shard(card, member->begin, member->end, standing, context_of(card),
                                settings_.sequences);
      if (!worker)
        worker = place_shard(card, member->begin, member->end, idle, context_of(card),
                             settings_.sequences);
      if (!worker) continue;
      send_load(*worker, {}, name, member->begin, member->end);
      return;
    }
  }
}

void Desk::leave_standby(ServingId session) {
  for (const std::uint32_t shard : std::set(workers_.at(session).shards)) {
    if (!shards_.at(shard).chain) unload(shard);
  }
}

// The lost layers, if a worker stands by with just these; one that has them ready before one that
// still loads them.
bool Desk::take_standby(ChainId id, Member& member) {
  const Chain& chain = chains_.at(id);
  Shard* best = nullptr;
  for (auto& [number, shard] : shards_) {
    if (shard.chain || shard.model != chain.model || shard.begin != member.begin ||
        shard.end != member.end)
      continue;
    if (std::ranges::contains(chain.members, shard.worker, &Member::worker)) continue;
    if (chain.trusted && !is_trusted(shard.worker)) continue;
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

}  // namespace weft::inference
