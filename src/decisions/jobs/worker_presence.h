// When workers come and go, as the scheduler has learned it, outlives the process.
//
// Threading: one thread.
#pragma once

#include <optional>
#include <span>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class WorkerPresence {
 public:
  explicit WorkerPresence(CoreTables& tables) : tables_(tables) {}
  WorkerPresence(const WorkerPresence&) = delete;

  void restore(std::span<const store::Presence> rows);
  // What changed of workers that came or went since the last call, and once an hour all that are
  // connected.
  void store(Moment now);

 private:
  CoreTables& tables_;
  std::optional<Instant> stored_;  // When that of all connected workers was.
};

}  // namespace weft::jobs
