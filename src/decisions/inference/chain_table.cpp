#include "decisions/inference/chain_table.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"

namespace weft::inference {

std::set<ServingId> Chain::workers() const {
  std::set<ServingId> out;
  for (const ChainMember& member : members) out.insert(member.worker);
  return out;
}

const ChainMember* Chain::member_of(ServingId worker) const {
  const auto found = std::ranges::find(members, worker, &ChainMember::worker);
  return found == members.end() ? nullptr : &*found;
}

Chain& ChainTable::add(ChainId id, Chain chain) { return chains_[id] = std::move(chain); }

Chain ChainTable::take(ChainId id) { return std::move(chains_.extract(id).mapped()); }

Chain* ChainTable::find(ChainId id) { return const_cast<Chain*>(std::as_const(*this).find(id)); }
const Chain* ChainTable::find(ChainId id) const {
  const auto found = chains_.find(id);
  return found == chains_.end() ? nullptr : &found->second;
}
Chain* ChainTable::find(std::uint32_t id, std::uint32_t epoch) {
  Chain* const chain = find(ChainId(id));
  return chain == nullptr || chain->epoch != epoch ? nullptr : chain;
}

std::vector<ChainId> ChainTable::of_model(const std::string& model) const {
  std::vector<ChainId> out;
  for (const auto& [id, chain] : chains_) {
    if (chain.model == model) out.push_back(id);
  }
  return out;
}

bool ChainTable::is_trusted(const Chain& chain) const {
  return std::ranges::all_of(
      chain.members, [&](const ChainMember& member) { return workers_.is_trusted(member.worker); });
}

bool ChainTable::has_exact_members(const Chain& chain) const {
  return std::ranges::all_of(chain.members, [&](const ChainMember& member) {
    const Shard* const shard = shards_.find(member.shard);
    return shard != nullptr && shard->exact;
  });
}

bool ChainTable::is_exact(const Chain& chain) const {
  const bool whole = chain.members.size() == 1 || wire_of(chain.model) == "f32";
  return whole && has_exact_members(chain);
}

bool ChainTable::commits(const Chain& chain) const {
  return chain.members.size() > 1 &&
         std::ranges::all_of(chain.members, [&](const ChainMember& member) {
           const ServingWorker* const worker = workers_.find(member.worker);
           return worker != nullptr && worker->offer.key != PublicKey{};
         });
}

std::size_t ChainTable::capacity_of(const Chain& chain) const {
  std::optional<std::uint32_t> least;
  for (const ChainMember& member : chain.members) {
    const Shard* const shard = shards_.find(member.shard);
    const std::uint32_t own =
        shard == nullptr || shard->sequences == 0 ? settings_.sequences : shard->sequences;
    least = std::min(least.value_or(own), own);
  }
  return least.value_or(settings_.sequences);
}

bool ChainTable::has_place(const Chain& chain) const {
  return chain.state == ChainState::ready && !chain.retiring &&
         chain.requests.size() < capacity_of(chain);
}

std::optional<Pipeline> ChainTable::pipeline_of(ChainId id, std::uint32_t sequence) const {
  const Chain& chain = chains_.at(id);
  if (!commits(chain) || chain.state != ChainState::ready) return std::nullopt;
  Pipeline out{.chain = id.number(), .epoch = chain.epoch, .sequence = sequence};
  out.exact = has_exact_members(chain);
  for (const ChainMember& member : chain.members)
    out.stages.push_back(
        {.worker = workers_.key(member.worker), .begin = member.begin, .end = member.end});
  return out;
}

const std::string& ChainTable::wire_of(const std::string& model) const {
  const ModelCard& card = models_.at(model);
  return card.wire.empty() ? settings_.wire : card.wire;
}

std::string ChainTable::inconsistency() const {
  for (const auto& [id, chain] : chains_) {
    const auto model = models_.find(chain.model);
    if (model == models_.end()) return weft::format("chain {} has no model", id.number());
    if (chain.workers().size() != chain.members.size())
      return weft::format("a worker is in chain {} twice", id.number());
    std::uint32_t at = 0;
    for (const ChainMember& member : chain.members) {
      const Shard* const shard = shards_.find(member.shard);
      if (shard == nullptr || shard->worker != member.worker || shard->chain != id ||
          shard->begin != member.begin || shard->end != member.end)
        return weft::format("member {} of chain {} does not hold its shard {}", member.worker,
                            id.number(), member.shard.number());
      if (member.begin != at)
        return weft::format("chain {} goes on with layer {} after layer {}", id.number(),
                            member.begin, at);
      at = member.end;
      if (chain.state != ChainState::loading && !shard->loaded)
        return weft::format("chain {} is linked without shard {}", id.number(),
                            member.shard.number());
      if (chain.state == ChainState::ready && !member.linked)
        return weft::format("chain {} is ready without member {}", id.number(), member.worker);
    }
    if (at != model->second.layers)
      return weft::format("chain {} ends with layer {}", id.number(), at);
  }
  return {};
}

}  // namespace weft::inference
