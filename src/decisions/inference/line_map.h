// What is known of the ways between workers: measured times, pairs that have no direct line for a
// while, and pairs that are kept apart because one blamed the other.
//
// Not for several threads. Bounds: pairs_max pairs without a line; Separations bounds the others.
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

// How mesh plans name a worker.
[[nodiscard]] std::string mesh_name(ServingId session);

class LineMap {
 public:
  static constexpr std::size_t pairs_max = 65'536;

  LineMap(const DeskSettings& settings, ServingWorkers& workers)
      : settings_(settings), workers_(workers) {}

  void joined(ServingId session, Instant now);
  void left(ServingId session);
  // The times that a worker measured to others.
  void heard(ServingId session, const protocol::serving::Pulse& pulse, Instant now);
  // How long a ping of the coordinator to it and back took.
  void measured(ServingId session, Duration round_trip, Instant now);

  // Whether the two have no direct line for now, so that their hops are relayed.
  [[nodiscard]] bool is_relayed(ServingId a, ServingId b, Instant now) const;
  void set_relayed(ServingId a, ServingId b, Instant now);
  // The two are not placed side by side for a time, unless there is no other chain.
  void separate(const PublicKey& a, const PublicKey& b, Instant now) {
    separations_.add(a, b, now + settings_.apart_for);
  }
  void forget_separations(Instant now) { separations_.forget(now); }
  // The way from one candidate to another; nothing if it is not known.
  [[nodiscard]] std::optional<mesh::Link> between(const Candidate& from, const Candidate& to) const;

  [[nodiscard]] std::string inconsistency() const;

 private:
  const DeskSettings& settings_;
  ServingWorkers& workers_;
  mesh::Topology topology_{
      {.silent_max = std::chrono::hours(1), .edge_age_max = std::chrono::minutes(10)}};
  // Until when two have no line; the smaller number first.
  std::map<std::pair<ServingId, ServingId>, Instant> relayed_;
  Separations separations_;
};

}  // namespace weft::inference
