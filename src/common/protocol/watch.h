// What `GET /v1/watch` (a WebSocket) pushes to clients that watch the network: one snapshot, then
// what changed, a few times a second at most. Text frames, one JSON object each. Lists of numbers
// about many things are columns of equal length, and a job's tasks are runs or four bits each, so
// that 5,000 workers and 100,000 tasks stay small. Every client may watch: there is nothing in it
// that belongs to one owner.
//
//   coordinator -> watcher   snapshot, delta, delta, ...     sequence rises by one with each delta
//   watcher -> coordinator   seen { sequence }               after it has taken a message in
//
// A watcher that leaves unseen_max messages unseen is sent nothing more until it has caught up, and
// then a new snapshot: a slow one costs no memory. Amounts are micro-credits, times milliseconds
// since 1970, keys base58, job ids hex.
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
    256;  // Length of the one message that a watcher sends.

// Where a task stands. Refused: a result of it was refused, and it is computed once more. In four
// bits, and as a letter.
enum class TaskState : std::uint8_t {
  waiting = 0,
  leased = 1,
  checking = 2,
  accepted = 3,
  refused = 4
};
inline constexpr std::size_t task_states = 5;
inline constexpr std::string_view task_letters = "wlcar";

// Tasks of one job: all of them in `packed`, or runs of them in columns.
struct TaskMap {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> count;
  std::string state;   // One of task_letters a run.
  std::string packed;  // Base64; two tasks a byte, the earlier one in the low four bits. Empty: the
                       // runs stand.
  friend bool operator==(const TaskMap&, const TaskMap&) = default;
};
// Whichever form is shorter. `tasks` holds the states of a whole job.
[[nodiscard]] TaskMap map_of(std::span<const TaskState> tasks);
// A map of some of its tasks: `changed` are indices, rising.
[[nodiscard]] TaskMap map_of(std::span<const TaskState> tasks,
                             std::span<const std::uint32_t> changed);
// Puts the map's states where they belong. invalid_argument if it is not for so many tasks.
[[nodiscard]] Result<> apply(const TaskMap& map, std::span<TaskState> tasks);

// What is public of a job: not whose it is, what it computes or what its owner would pay.
struct Job {
  std::string id;
  std::string state;  // As api::Job::state.
  std::uint32_t tasks = 0;
  std::uint32_t replicas = 1;
  std::array<std::uint32_t, task_states> counts{};  // Tasks in each TaskState.
  std::uint32_t refusals = 0;                       // Results refused.
  MicroCredits price = 0;                           // 0 until the canary has passed.
  double units = 0;                                 // Compute units; docs/pricing.md.
  std::int64_t created = 0;
  std::int64_t ended = 0;
  bool mapped = true;  // False: too many tasks are shown already, `map` stays empty.
  TaskMap map;         // All tasks if the job is new to the watcher, otherwise those that changed.
  friend bool operator==(const Job&, const Job&) = default;
};

// A worker, under a number that stands for it while it is connected.
struct Worker {
  std::uint32_t number = 0;
  std::string key;
  std::string kind;    // "native", "browser"
  std::string device;  // "gpu", "cpu"
  std::string description;
  double f32_gflop_per_s = 0;
  std::int64_t since = 0;
};

// What changes about workers all the time, in columns.
struct Loads {
  std::vector<std::uint32_t> number;
  std::vector<std::uint32_t> held;  // Leases now.
  std::vector<std::uint32_t> slots;
  std::vector<std::uint64_t> accepted;  // Ever.
  std::vector<std::uint64_t> refused;
  std::vector<double> rate;           // Relative to the reference, as measured so far.
  std::vector<double> round_trip_ms;  // Negative: not known yet.
};

// One row a second, in columns, oldest first.
struct History {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> accepted;  // Tasks in that second.
  std::vector<std::uint32_t> refused;   // Results in that second.
  std::vector<MicroCredits> paid;       // In that second.
  std::vector<double> latency_ms;  // From a task's first lease to its acceptance: the median; 0
                                   // where none was accepted.
  std::vector<double> latency_high_ms;  // Nine of ten were faster.
  std::vector<std::uint32_t> workers;   // Connected.
  std::vector<std::uint32_t> open;      // Tasks that are not accepted.
  std::vector<MicroCredits> per_unit;   // What a compute unit would cost a new job.
};

struct Snapshot {
  std::string type = "snapshot";
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
  std::uint64_t jobs_running = 0;  // `jobs` has the newest of them, and those that ended lately.
  std::vector<Job> jobs;           // Newest first.
  std::vector<Worker> workers;
  Loads loads;
  History history;
};

struct Delta {
  std::string type = "delta";
  std::uint64_t sequence = 0;
  std::int64_t time = 0;
  std::uint64_t jobs_running = 0;
  std::vector<Job> jobs;               // New, or changed.
  std::vector<std::string> jobs_gone;  // No longer shown.
  std::vector<Worker> joined;
  std::vector<std::uint32_t> left;
  Loads loads;
  History history;

  [[nodiscard]] bool empty() const {
    return jobs.empty() && jobs_gone.empty() && joined.empty() && left.empty() &&
           loads.number.empty() && history.time.empty();
  }
};

// What a watcher says: it has taken in everything up to this sequence.
struct Seen {
  std::string type = "seen";
  std::uint64_t sequence = 0;
};

[[nodiscard]] std::string encode(const Snapshot& snapshot);
[[nodiscard]] std::string encode(const Delta& delta);
[[nodiscard]] std::string encode(const Seen& seen);
// Strict: exactly these keys, at most seen_bytes_max. invalid_argument, or resource_exhausted if
// it is too long.
[[nodiscard]] Result<Seen> decode_seen(std::string_view text);
// For tests and tools; unknown keys are passed over.
[[nodiscard]] Result<Snapshot> decode_snapshot(std::string_view text);
[[nodiscard]] Result<Delta> decode_delta(std::string_view text);

// For generating the page's types: JSON schema by struct name.
[[nodiscard]] std::string watch_schema();

}  // namespace weft::protocol::watch
