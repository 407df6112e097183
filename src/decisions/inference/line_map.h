// Lines between workers: the measured times, the pairs that have no direct line for a while, and
// the pairs that are kept apart because one worker of the pair blamed the other.
//
// Not for several threads. Bounds: pairs_max pairs without a direct line; Separations bounds the
// pairs that are kept apart.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/protocol/serving.h"
#include "decisions/inference/desk_settings.h"
#include "decisions/inference/placement.h"
#include "decisions/inference/separations.h"
#include "decisions/inference/serving_ids.h"
#include "decisions/inference/serving_workers.h"
#include "decisions/mesh/topology.h"

namespace weft::inference {

// The name of a worker in mesh plans.
[[nodiscard]] std::string mesh_name(ServingId session);

class LineMap {
 public:
  static constexpr std::size_t pairs_max = 65'536;

  LineMap(const DeskSettings& settings, ServingWorkers& workers)
      : settings_(settings), workers_(workers) {}

  void joined(ServingId session, Instant now);
  void left(ServingId session);
  // Takes in the times that a worker measured to other workers.
  void heard(ServingId session, const protocol::serving::Pulse& pulse, Instant now);
  // Takes in the time of a ping from the coordinator to the worker and back.
  void measured(ServingId session, Duration round_trip, Instant now);

  // True if the two workers have no direct line for now, so that their hops are relayed.
  [[nodiscard]] bool is_relayed(ServingId a, ServingId b, Instant now) const;
  void set_relayed(ServingId a, ServingId b, Instant now);
  // Keeps the two workers from being neighbours in a chain for a time, unless no other chain is
  // possible.
  void separate(const PublicKey& a, const PublicKey& b, Instant now) {
    separations_.add(a, b, now + settings_.apart_for);
  }
  void forget_separations(Instant now) { separations_.forget(now); }
  // The line from one candidate to another; no value if it is unknown.
  [[nodiscard]] std::optional<mesh::Link> between(const Candidate& from, const Candidate& to) const;

  [[nodiscard]] std::string inconsistency() const;

 private:
  const DeskSettings& settings_;
  ServingWorkers& workers_;
  mesh::Topology topology_{
      {.silent_max = std::chrono::hours(1), .edge_age_max = std::chrono::minutes(10)}};
  // The time until which two workers have no direct line. The smaller id is first.
  std::map<std::pair<ServingId, ServingId>, Instant> relayed_;
  Separations separations_;
};

}  // namespace weft::inference
