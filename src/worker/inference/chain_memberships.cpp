#include "worker/inference/chain_memberships.h"

#include <algorithm>
#include <utility>

namespace weft::worker {

std::shared_ptr<ChainMember> ChainMemberships::find(std::uint32_t chain,
                                                    std::uint32_t epoch) const {
  const auto found = members_.find(chain);
  if (found == members_.end() || found->second->link().epoch != epoch) return nullptr;
  return found->second;
}

std::optional<std::uint32_t> ChainMemberships::chain_of(std::uint32_t shard) const {
  const auto found = std::ranges::find_if(members_, [&](const auto& entry) {
    const protocol::serving::Link& link = entry.second->link();
    return link.members[link.index].shard == shard;
  });
  return found == members_.end() ? std::nullopt : std::optional(found->first);
}

std::uint32_t ChainMemberships::running() const {
  std::uint32_t out = 0;
  for (const auto& [chain, member] : members_) out += static_cast<std::uint32_t>(member->running());
  return out;
}

bool ChainMemberships::wants(std::uint32_t chain, std::uint32_t epoch) const {
  const auto found = wanted_.find(chain);
  return found != wanted_.end() && found->second == epoch;
}

void ChainMemberships::end(std::uint32_t chain, std::function<void()> done) {
  auto node = members_.extract(chain);
  if (node.empty()) {
    // The earlier place may still be ending.
    if (const auto ending = ending_->find(chain); ending != ending_->end()) {
      ending->second = std::move(done);
    } else if (done) {
      done();
    }
    return;
  }
  (*ending_)[chain] = std::move(done);
  node.mapped()->end([weak = std::weak_ptr(ending_), chain] {
    const auto ending = weak.lock();
    if (!ending) return;
    auto ended = ending->extract(chain);
    if (!ended.empty() && ended.mapped()) ended.mapped()();
  });
}

}  // namespace weft::worker
