// The shards on this worker's device: the shards that the coordinator ordered, by its numbers, and
// a few that it has released, which stay until a new shard needs their memory.
//
// Threading: the host's thread. Bounds: idle_max released shards; the coordinator bounds the other
// shards by the memory that was offered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/protocol/serving.h"
#include "worker/inference/shard.h"

namespace weft::worker {

class ShardCache {
 public:
  static constexpr std::size_t idle_max = 4;
  using Shards = std::map<std::uint32_t, std::shared_ptr<Shard>>;

  // Takes a released shard that is the one `order` asks for; null if there is none.
  [[nodiscard]] std::shared_ptr<Shard> take_idle(const protocol::serving::Load& order);
  // Removes the released shards, to make room for a shard that is about to be loaded.
  void begin_loading(std::uint32_t id);
  // Returns false if the order was withdrawn meanwhile.
  [[nodiscard]] bool end_loading(std::uint32_t id) { return loading_.erase(id) > 0; }

  void put(std::uint32_t id, std::shared_ptr<Shard> shard) { shards_[id] = std::move(shard); }
  // Returns null for a number that is not loaded.
  [[nodiscard]] std::shared_ptr<Shard> find(std::uint32_t id) const;
  [[nodiscard]] const Shards& all() const { return shards_; }
  // Removes and returns a shard, or withdraws its order; null if it is not loaded.
  [[nodiscard]] std::shared_ptr<Shard> take(std::uint32_t id);
  // Removes and returns all shards and withdraws all orders.
  [[nodiscard]] Shards take_all();

  // Keeps a shard as a released one; its engine must be free. If there are too many, the one that
  // was released first is destroyed.
  void retire(std::shared_ptr<Shard> shard);

 private:
  Shards shards_;
  std::set<std::uint32_t> loading_;
  std::vector<std::shared_ptr<Shard>> idle_;  // The oldest is first.
};

}  // namespace weft::worker
