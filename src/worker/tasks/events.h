// The events that a session reports to its observer (the page, the terminal), and its counters.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::worker {

struct TaskKey {
  TaskId task;
  std::uint32_t attempt = 0;
  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
};

namespace event {
struct Connecting {};
struct Connected {
  MicroCredits balance = 0;
};
struct Disconnected {
  std::string reason;
  Duration retry{};
};
struct TaskStarted {
  TaskKey key;
};
// A task that continues from a checkpoint.
struct TaskResumed {
  TaskKey key;
  std::uint32_t done = 0;
  std::uint32_t of = 0;
};
// The worker has computed some parts of the task.
struct TaskAdvanced {
  TaskKey key;
  std::uint32_t parts = 0;
  std::uint32_t done = 0;
  std::uint32_t of = 0;
};
struct TaskCheckpointed {
  TaskKey key;
  std::uint32_t done = 0;
  std::uint32_t of = 0;
  bool stopped = false;  // True if the task was stopped and given back.
};
struct TaskDone {
  TaskKey key;
  double wall_seconds = 0;
  double gpu_seconds = 0;
  std::string job_name{};
  std::uint64_t bytes = 0;  // See exec::Traffic::bytes.
  double operations = 0;
};
struct TaskFailed {
  TaskKey key;
  Error error;
};
struct TaskCancelled {
  TaskKey key;
  std::string reason;
};
struct Verdict {
  TaskKey key;
  bool accepted = false;
  MicroCredits paid = 0;
  MicroCredits balance = 0;
  std::string reason;
};
// The coordinator refuses this worker; the session has ended.
struct Refused {
  Error error;
};
struct Stopped {};
}  // namespace event

using Event = std::variant<event::Connecting, event::Connected, event::Disconnected,
                           event::TaskStarted, event::TaskResumed, event::TaskAdvanced,
                           event::TaskCheckpointed, event::TaskDone, event::TaskFailed,
                           event::TaskCancelled, event::Verdict, event::Refused, event::Stopped>;
using EventSink = std::function<void(const Event&)>;

struct Counters {
  std::uint64_t tasks_done = 0;
  std::uint64_t tasks_failed = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  MicroCredits paid = 0;
  MicroCredits balance = 0;
  std::uint64_t checkpoints = 0;
  double gpu_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t bytes_sent = 0;  // The bytes of the outputs that were sent.
  std::string last_error;
};

}  // namespace weft::worker
