// The workers that are connected to serve models: their offers, their last messages and their
// speed.
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
  // The worker's offer; memory_bytes is reduced when the worker refuses a shard.
  protocol::serving::Offer offer;
  Instant heard{};
  std::set<ShardId> shards{};        // The worker's shards, which the ShardTable adds and removes.
  protocol::serving::Pulse pulse{};  // The worker's last pulse.
  double gb_per_s = 0;  // The measured speed of the worker's layers; 0: not yet measured.
  std::map<ServingId, double> peers{};  // Milliseconds to each worker that it measured.
  double coordinator_ms = 0;            // The one-way time to the coordinator; 0: unknown.
};

class ServingWorkers {
 public:
  explicit ServingWorkers(DeskWorld& world) : world_(world) {}

  void join(ServingId session, const PublicKey& key, const protocol::serving::Offer& offer,
            Instant now);
  // Removes a worker and returns its shards. Other workers forget their line to it.
  [[nodiscard]] std::set<ShardId> remove(ServingId session);

  [[nodiscard]] bool contains(ServingId session) const { return workers_.contains(session); }
  // Returns null for an unknown connection.
  [[nodiscard]] ServingWorker* find(ServingId session);
  [[nodiscard]] const ServingWorker* find(ServingId session) const;
  [[nodiscard]] ServingWorker& at(ServingId session) { return workers_.at(session); }
  [[nodiscard]] const ServingWorker& at(ServingId session) const { return workers_.at(session); }
  [[nodiscard]] const PublicKey& key(ServingId session) const { return workers_.at(session).key; }
  [[nodiscard]] const std::map<ServingId, ServingWorker>& all() const { return workers_; }
  // The connections of a key, which may be several.
  [[nodiscard]] std::vector<ServingId> sessions_of(const PublicKey& key) const;

  // Returns false for an unknown connection.
  [[nodiscard]] bool is_trusted(ServingId session) const;
  // The speed, measured by the worker's layers. Until it is measured, the offered bandwidth of
  // copies, scaled by the median ratio of the two numbers among workers that have both.
  [[nodiscard]] double speed_of(const ServingWorker& worker) const;

 private:
  DeskWorld& world_;
  std::map<ServingId, ServingWorker> workers_;
};

}  // namespace weft::inference
