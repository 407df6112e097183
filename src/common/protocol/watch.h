// The messages that `GET /v1/watch` (a WebSocket) pushes to clients that watch the network: one
// snapshot, then changes, a few times a second at most. Text frames hold one JSON object each.
// Lists of numbers about many things are columns of equal length, and a job's tasks are runs or
// four bits each, so that 5,000 workers and 100,000 tasks stay small. Every client may watch: no
// message contains private data of an owner.
//
//   coordinator -> watcher   snapshot, delta, delta, ...     sequence rises by one with each delta
//   watcher -> coordinator   seen { sequence }               after it has processed a message
//
// A watcher that leaves unseen_max messages unseen is sent nothing more until it has caught up, and
// then a new snapshot, so that a slow watcher costs no memory. Amounts are micro-credits, times
// milliseconds since 1970, keys base58, job ids hex.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::protocol::watch {

inline constexpr std::uint32_t unseen_max = 4;
inline constexpr std::size_t seen_bytes_max =
    256;  // The most bytes of the one message that a watcher sends.

// The state of a task, in four bits and as a letter. refused: a result of the task was refused, and
// the task is computed once more.
enum class TaskState : std::uint8_t {
  waiting = 0,
  leased = 1,
  checking = 2,
  accepted = 3,
  refused = 4
};
inline constexpr std::size_t task_states = 5;
inline constexpr std::string_view task_letters = "wlcar";

// States of tasks of one job: all tasks in `packed`, or runs of tasks in columns.
struct TaskMap {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> count;
  std::string state;  // One letter of task_letters for each run.
  // Base64; two tasks a byte, the earlier one in the low four bits. If empty, the runs hold the
  // states.
  std::string packed;
  friend bool operator==(const TaskMap&, const TaskMap&) = default;
};
// A map of a whole job with these states, in the shorter form.
[[nodiscard]] TaskMap map_of(std::span<const TaskState> tasks);
// A map of some of a job's tasks. `changed` holds their indices in ascending order.
[[nodiscard]] TaskMap map_of(std::span<const TaskState> tasks,
                             std::span<const std::uint32_t> changed);
// Writes the map's states into `tasks`. Fails with invalid_argument if the map is for another
// number of tasks.
[[nodiscard]] Result<> apply(const TaskMap& map, std::span<TaskState> tasks);

// The public data of a job: not its client, not what it computes, and not what its owner would pay.
struct Job {
  std::string id;
  std::string state;  // The job's state (api::Job::state).
  std::uint32_t tasks = 0;
  std::uint32_t replicas = 1;
  std::array<std::uint32_t, task_states> counts{};  // The number of tasks in each TaskState.
  std::uint32_t refusals = 0;                       // The number of refused results.
  MicroCredits price = 0;                           // 0 until the canary has passed.
  double units = 0;                                 // Compute units; see docs/pricing.md.
  std::int64_t created = 0;
  std::int64_t ended = 0;
  bool mapped = true;  // False if too many tasks are shown already; `map` is empty then.
  TaskMap map;  // All tasks of a job that is new to the watcher, otherwise the changed tasks.
  friend bool operator==(const Job&, const Job&) = default;
};

// A worker, with a number that identifies it while it is connected.
struct Worker {
  std::uint32_t number = 0;
  std::string key;
  std::string kind;    // "native", "browser"
  std::string device;  // "gpu", "cpu"
  std::string description;
  double f32_gflop_per_s = 0;
  std::int64_t since = 0;
};

// The often changing data of workers, in columns.
struct Loads {
  std::vector<std::uint32_t> number;
  std::vector<std::uint32_t> held;  // Present leases.
  std::vector<std::uint32_t> slots;
  std::vector<std::uint64_t> accepted;  // The number of all accepted results.
  std::vector<std::uint64_t> refused;
  std::vector<double> rate;           // The rates measured so far, relative to the reference.
  std::vector<double> round_trip_ms;  // Milliseconds; negative: unknown.
};

// Counts of the network for each second, one row a second, in columns, oldest first.
struct History {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> accepted;  // Tasks that were accepted in that second.
  std::vector<std::uint32_t> refused;   // Refused results in that second.
  std::vector<MicroCredits> paid;       // Pay of that second.
  // Median time from a task's first lease to its acceptance; 0 if no task was accepted.
  std::vector<double> latency_ms;
  std::vector<double> latency_high_ms;  // The time that nine of ten tasks stayed below.
  std::vector<std::uint32_t> workers;   // Number of connected workers.
  std::vector<std::uint32_t> open;      // Tasks that are not accepted yet.
  std::vector<MicroCredits> per_unit;   // The price of a compute unit for a new job.
};

struct Snapshot {
  std::string type = "snapshot";
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
  // The number of all running jobs. `jobs` has only the newest of them, and jobs that ended
  // recently.
  std::uint64_t jobs_running = 0;
  std::vector<Job> jobs;  // The jobs that are shown, newest first.
  std::vector<Worker> workers;
  Loads loads;
  History history;
};

struct Delta {
  std::string type = "delta";
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
  std::uint64_t jobs_running = 0;
  std::vector<Job> jobs;               // Jobs that are new or changed.
  std::vector<std::string> jobs_gone;  // Jobs that are no longer shown.
  std::vector<Worker> joined;
  std::vector<std::uint32_t> left;
  Loads loads;
  History history;

  [[nodiscard]] bool empty() const {
    return jobs.empty() && jobs_gone.empty() && joined.empty() && left.empty() &&
           loads.number.empty() && history.time.empty();
  }
};

// The message of a watcher: the watcher has processed everything up to this sequence.
struct Seen {
  std::string type = "seen";
  std::uint64_t sequence = 0;
};

[[nodiscard]] std::string encode(const Snapshot& snapshot);
[[nodiscard]] std::string encode(const Delta& delta);
[[nodiscard]] std::string encode(const Seen& seen);
// Reads a Seen strictly: exactly its keys, and at most seen_bytes_max bytes. Fails with
// invalid_argument, or with resource_exhausted if it is too long.
[[nodiscard]] Result<Seen> decode_seen(std::string_view text);
// Read a snapshot or delta, for tests and tools; unknown keys are ignored.
[[nodiscard]] Result<Snapshot> decode_snapshot(std::string_view text);
[[nodiscard]] Result<Delta> decode_delta(std::string_view text);

// The JSON schema by struct name, from which the page's types are generated.
[[nodiscard]] std::string watch_schema();

}  // namespace weft::protocol::watch
