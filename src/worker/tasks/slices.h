// A GPU shared by tasks of several clients: who is resident within the memory there is, and whose
// slice of time comes next.
//
// Memory: every task has a partition, the memory that its job asks for; partitions never add up to
// more than there is, and a task is told its own and nothing of the others. Time: slices in the
// order of virtual time (stride scheduling, Waldspurger 1995): the client whose runnable tasks have
// had least time for its weight is next, its tasks take turns. A client that comes begins level
// with the least of those who are there: it neither catches up on the past nor waits for it. So
// between any two clients that both have something to run the times by weight differ by no more
// than a slice of each.
//
// A slice is a wish: a dispatch cannot be stopped, and what it took is what counts. Pure; an
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
    double weight = 1;  // The client's; the latest counts.
  };
  struct Slice {
    TaskId task;
    Duration length;
  };

  explicit Slices(Settings settings) : settings_(settings) {}

  // resource_exhausted: no slot, or its partition does not fit beside the others. already_exists:
  // it is resident. invalid_argument: a weight that is not positive.
  [[nodiscard]] Result<> admit(const Resident& resident);
  // It has ended or was taken away; its partition is free.
  void end(const TaskId& task);

  // The slice whose turn it is; the same until ran() or end(). Nothing if none is resident.
  [[nodiscard]] std::optional<Slice> next() const;
  // The task of next() had so long.
  void ran(const TaskId& task, Duration took);

  [[nodiscard]] std::uint64_t memory_used() const { return used_; }
  [[nodiscard]] std::size_t resident() const { return tasks_.size(); }

 private:
  struct Client {
    double weight = 1;
    double virtual_seconds = 0;  // Had, over weight.
    std::deque<TaskId> turns;
  };
  [[nodiscard]] std::map<PublicKey, Client>::const_iterator least() const;

  Settings settings_;
  std::map<TaskId, Resident> tasks_;
  std::map<PublicKey, Client> clients_;  // With resident tasks.
  std::uint64_t used_ = 0;
};

}  // namespace weft::worker
