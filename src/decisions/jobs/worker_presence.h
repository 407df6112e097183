// Stores the times at which workers come and go, as the scheduler has learned them, so that they
// outlive the process.
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
  // Stores the changes for workers that came or left since the last call, and once an hour the row
  // of each connected worker.
  void store(Moment now);

 private:
  CoreTables& tables_;
  std::optional<Instant> stored_;  // The last time at which all connected workers were stored.
};

}  // namespace weft::jobs
