// The shards on this worker's device: those that the coordinator ordered, by its numbers, and a few
// that it gave up, which stay until a new one needs the room.
//
// Threading: the host's thread. Bounds: idle_max shards that were given up; the coordinator bounds
// the others by the memory that was offered.
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

  // A shard that was given up and is what `order` asks for; null without one.
  [[nodiscard]] std::shared_ptr<Shard> take_idle(const protocol::serving::Load& order);
  // Makes room for a shard that is to be loaded: what was given up goes.
  void begin_loading(std::uint32_t id);
  // False if the order was withdrawn meanwhile.
  [[nodiscard]] bool end_loading(std::uint32_t id) { return loading_.erase(id) > 0; }

  void put(std::uint32_t id, std::shared_ptr<Shard> shard) { shards_[id] = std::move(shard); }
  // Null for a number that is not loaded.
  [[nodiscard]] std::shared_ptr<Shard> find(std::uint32_t id) const;
  [[nodiscard]] const Shards& all() const { return shards_; }
  // Takes a shard out, or withdraws the order for it; null where it is not loaded.
  [[nodiscard]] std::shared_ptr<Shard> take(std::uint32_t id);
  // Takes all out and withdraws all orders.
  [[nodiscard]] Shards take_all();

  // Gives a shard up; its engine is free. The one that was given up first goes if there are too
  // many.
  void retire(std::shared_ptr<Shard> shard);

 private:
  Shards shards_;
  std::set<std::uint32_t> loading_;
  std::vector<std::shared_ptr<Shard>> idle_;  // The oldest first.
};

}  // namespace weft::worker
