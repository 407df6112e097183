// Reservations of replicas that made way for a more urgent task and that only their own worker can
// continue (docs/decisions/0006): no other worker begins such a replica again before a given time.
//
// Pure. Memory: an entry for each reserved replica.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

class ResumeReservations {
 public:
  void reserve(const TaskId& task, const PublicKey& worker, Instant until);
  // Call it when the worker has the task again, or no longer wants it.
  void release(const TaskId& task, const PublicKey& worker);
  void release(const TaskId& task);
  // Releases all reservations of the worker and returns their tasks.
  [[nodiscard]] std::vector<TaskId> release_all(const PublicKey& worker);
  void drop_expired(const TaskId& task, Instant now);

  [[nodiscard]] bool empty() const { return reserved_.empty(); }
  [[nodiscard]] bool has(const TaskId& task, const PublicKey& worker) const;
  // The number of workers for which a replica of the task is reserved.
  [[nodiscard]] std::size_t count(const TaskId& task) const;
  // The time at which the last of the task's reservations ends.
  [[nodiscard]] std::optional<Instant> ends(const TaskId& task) const;
  // The tasks of the job that are reserved for the worker, by their index.
  [[nodiscard]] std::vector<TaskId> of(const JobId& job, const PublicKey& worker) const;

 private:
  std::map<TaskId, std::map<PublicKey, Instant>> reserved_;
};

}  // namespace weft::scheduler
