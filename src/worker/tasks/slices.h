// A GPU that tasks of several clients share. Slices decides which tasks are resident within the
// memory, and which task has the next slice of time.
//
// Memory: every task has a partition of the size that its job asks for. The partitions together
// never exceed the memory, and a task is told only the size of its own partition. Time: slices are
// in the order of virtual time (stride scheduling, Waldspurger 1995): the client whose runnable
// tasks had the least time for its weight is next, and its tasks take turns. A new client begins
// with the least virtual time of the present clients: it neither catches up on the past nor waits
// for it. Therefore, between any two clients that both have runnable tasks, the times divided by
// weight differ by no more than a slice of each client.
//
// A slice is a target: a dispatch cannot be stopped, and the time that it took is counted. Pure; an
// operation takes O(log tasks).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::worker {

class Slices {
 public:
  struct Settings {
    std::uint32_t slots = 4;
    std::uint64_t memory_bytes = 0;
    Duration slice = std::chrono::milliseconds(50);
  };
  struct Resident {
    TaskId task;
    PublicKey client;
    std::uint64_t memory_bytes = 0;
    double weight = 1;  // The client's weight; the latest one counts.
  };
  struct Slice {
    TaskId task;
    Duration length;
  };

  explicit Slices(Settings settings) : settings_(settings) {}

  // Admits a task. Fails with resource_exhausted if there is no slot or its partition does not fit
  // beside the other partitions, with already_exists if the task is resident, and with
  // invalid_argument if the weight is not positive.
  [[nodiscard]] Result<> admit(const Resident& resident);
  // Ends a task that has finished or was taken away, and frees its partition.
  void end(const TaskId& task);

  // Returns the slice whose turn it is; the slice does not change until ran() or end(). Returns
  // nullopt if no task is resident.
  [[nodiscard]] std::optional<Slice> next() const;
  // Counts the time that the task of next() took.
  void ran(const TaskId& task, Duration took);

  [[nodiscard]] std::uint64_t memory_used() const { return used_; }
  [[nodiscard]] std::size_t resident() const { return tasks_.size(); }

 private:
  struct Client {
    double weight = 1;
    double virtual_seconds = 0;  // The time it had, divided by its weight.
    std::deque<TaskId> turns;
  };
  [[nodiscard]] std::map<PublicKey, Client>::const_iterator least() const;

  Settings settings_;
  std::map<TaskId, Resident> tasks_;
  std::map<PublicKey, Client> clients_;  // The clients that have resident tasks.
  std::uint64_t used_ = 0;
};

}  // namespace weft::worker
