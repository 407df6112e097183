// A task as it was leased to this worker. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"
#include "common/protocol/leases.h"
#include "worker/tasks/events.h"

namespace weft::worker {

// Terms that the tasks of one lease share.
struct LeaseTerms {
  Hash manifest;
  std::uint32_t piece_workgroups_max = 0;
  Duration wall_max{};
  // The least time between checkpoints; zero: no checkpoints are wanted.
  Duration checkpoint_every{};
  PublicKey client;
  double weight = 1;
};

struct LeasedTask {
  TaskKey key;
  manifest::Range range;
  std::shared_ptr<const LeaseTerms> terms;
  std::optional<protocol::ResumePoint> resume;
  bool step_roots = false;  // Roots of groups of steps are wanted.
};

// The coordinator that sent the last Welcome, and the token with which blobs are stored.
struct WorkSession {
  PublicKey coordinator;
  std::string token;
};

// True if a lease is for a whole task; the task's root then goes into the record of signed roots.
[[nodiscard]] inline bool is_whole_task(const manifest::Manifest& manifest, std::uint32_t index,
                                        manifest::Range range) {
  return index < manifest.split.tasks && range == manifest::task_range(manifest, index);
}

}  // namespace weft::worker
