// The workers that are connected to serve models: what they offer, what was heard of them and how
// fast they are.
//
// Not for several threads. Bounds: one entry for each connection.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/protocol/serving.h"
#include "decisions/inference/desk_world.h"
#include "decisions/inference/serving_ids.h"

namespace weft::inference {

struct ServingWorker {
  PublicKey key;
  protocol::serving::Offer offer;  // Its memory_bytes become fewer once it has refused a shard.
  Instant heard{};
  std::set<ShardId> shards{};           // Entered and removed by the ShardTable.
  protocol::serving::Pulse pulse{};     // The last.
  double gb_per_s = 0;                  // Measured by its layers; 0: not yet.
  std::map<ServingId, double> peers{};  // The workers that it measured the way to, and the ms.
  double coordinator_ms = 0;            // One way; 0: not known.
};

class ServingWorkers {
 public:
  explicit ServingWorkers(DeskWorld& world) : world_(world) {}

  void join(ServingId session, const PublicKey& key, const protocol::serving::Offer& offer,
            Instant now);
  // Its shards; other workers forget their way to it.
  [[nodiscard]] std::set<ShardId> remove(ServingId session);

  [[nodiscard]] bool contains(ServingId session) const { return workers_.contains(session); }
  // Null for a connection that is not here.
  [[nodiscard]] ServingWorker* find(ServingId session);
  [[nodiscard]] const ServingWorker* find(ServingId session) const;
  [[nodiscard]] ServingWorker& at(ServingId session) { return workers_.at(session); }
  [[nodiscard]] const ServingWorker& at(ServingId session) const { return workers_.at(session); }
  [[nodiscard]] const PublicKey& key(ServingId session) const { return workers_.at(session).key; }
  [[nodiscard]] const std::map<ServingId, ServingWorker>& all() const { return workers_; }
  // A key may have several connections.
  [[nodiscard]] std::vector<ServingId> sessions_of(const PublicKey& key) const;

  // False for a connection that is not here.
  [[nodiscard]] bool is_trusted(ServingId session) const;
  // Measured by its layers. What a worker offers (the bandwidth of copies) is brought to the same
  // scale by those of whom both are known.
  [[nodiscard]] double speed_of(const ServingWorker& worker) const;

 private:
  DeskWorld& world_;
  std::map<ServingId, ServingWorker> workers_;
};

}  // namespace weft::inference
