#include "worker/inference/shard_cache.h"

#include <algorithm>
#include <utility>

namespace weft::worker {

std::shared_ptr<Shard> ShardCache::take_idle(const protocol::serving::Load& order) {
  const auto found =
      std::ranges::find_if(idle_, [&](const auto& shard) { return shard->serves(order); });
  if (found == idle_.end()) return nullptr;
  auto shard = std::move(*found);
  idle_.erase(found);
  return shard;
}

void ShardCache::begin_loading(std::uint32_t id) {
  idle_.clear();
  loading_.insert(id);
}

std::shared_ptr<Shard> ShardCache::find(std::uint32_t id) const {
  const auto found = shards_.find(id);
  return found == shards_.end() ? nullptr : found->second;
}

std::shared_ptr<Shard> ShardCache::take(std::uint32_t id) {
  loading_.erase(id);
  auto node = shards_.extract(id);
  return node.empty() ? nullptr : std::move(node.mapped());
}

ShardCache::Shards ShardCache::take_all() {
  loading_.clear();
  return std::exchange(shards_, {});
}

void ShardCache::retire(std::shared_ptr<Shard> shard) {
  idle_.push_back(std::move(shard));
  if (idle_.size() > idle_max) idle_.erase(idle_.begin());
}

}  // namespace weft::worker
