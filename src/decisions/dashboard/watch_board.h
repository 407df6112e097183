// The network as it was last reported to watchers, and the difference to its present state. The
// core names the tasks that it touched. When the board is asked for a delta it looks at these tasks
// again, at every worker, and at the heads of the jobs, so that the cost of a delta follows from
// the number of changes and not from the size of the network.
//
// Nothing is recorded while there is no watcher. Threading: the core's thread. Bounds: jobs_max
// jobs are shown, and tasks_max of their tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/watch.h"
#include "decisions/dashboard/watch_history.h"

namespace weft::dashboard {

// The part of the core that the board reads.
class WatchSource {
 public:
  virtual ~WatchSource() = default;

  // Running jobs, newest first, at most `count`.
  [[nodiscard]] virtual std::vector<JobId> watched_jobs(std::size_t count) const = 0;
  [[nodiscard]] virtual std::size_t jobs_running() const = 0;
  // A running job, without counts and map.
  [[nodiscard]] virtual protocol::watch::Job watched_head(const JobId& job) const = 0;
  [[nodiscard]] virtual protocol::watch::TaskState watched_task(const TaskId& task) const = 0;

  struct WorkerNow {
    PublicKey key;
    std::uint64_t session = 0;  // A new session is a new worker to the board.
    std::uint32_t held = 0;
    std::uint32_t slots = 0;
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    double rate = 0;
    double round_trip_ms = -1;
    friend bool operator==(const WorkerNow&, const WorkerNow&) = default;
  };
  virtual void each_worker(const std::function<void(const WorkerNow&)>& use) const = 0;
  // The worker, without its number, which the board gives.
  [[nodiscard]] virtual protocol::watch::Worker watched_worker(const PublicKey& key) const = 0;
};

class WatchBoard {
 public:
  static constexpr std::size_t jobs_max = 64;
  static constexpr std::size_t ended_max = 16;  // Shown jobs that have ended.
  static constexpr std::size_t tasks_max = 1'000'000;

  WatchHistory history;

  // --- Hooks for the core. Call touch() when a task was leased, delivered, accepted, refused or
  // lost.
  void touch(const TaskId& task);
  // Call it when a running job ends, in the state of `head`. The board looks at the job's tasks for
  // the last time.
  void ended(const WatchSource& source, const JobId& id, protocol::watch::Job head);

  // Call it when the results of an ended job have changed. `head` is used if the job is no longer
  // shown.
  void corrected(const JobId& id, protocol::watch::Job head);

  // Looks at everything that may have changed. The delta gets the next sequence number only if
  // something changed.
  [[nodiscard]] protocol::watch::Delta advance(const WatchSource& source, UnixMillis time);
  // The state as of the last advance().
  [[nodiscard]] protocol::watch::Snapshot snapshot() const;
  // Call this when the last watcher has left.
  void rest();

 private:
  struct Shown {
    protocol::watch::Job head;  // The job without the map of its tasks.
    std::vector<protocol::watch::TaskState> tasks;
    std::vector<bool> is_touched;
    std::vector<std::uint32_t> touched;  // Touched tasks, in any order, each once.
    bool running = true;
    bool is_new = true;  // True if watchers do not know the job yet.
    bool has_changed = false;
  };
  using Jobs = std::map<JobId, Shown>;
  struct ShownWorker {
    std::uint32_t number = 0;
    WatchSource::WorkerNow now;
    protocol::watch::Worker head;
    std::uint64_t seen = 0;  // The last round in which the worker was present.
  };
  Shown& show(const WatchSource& source, const JobId& id);
  void look_again(const WatchSource& source, const JobId& id, Shown& job);
  void set_head(Shown& job, protocol::watch::Job head);
  Jobs::iterator forget(Jobs::iterator job);
  void forget_ended(std::size_t kept_max);
  void advance_jobs(const WatchSource& source, protocol::watch::Delta& delta);
  void advance_workers(const WatchSource& source, protocol::watch::Delta& delta);

  bool watched_ = false;
  std::uint64_t sequence_ = 0;
  std::int64_t time_ = 0;
  std::uint64_t jobs_running_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t history_told_ = 0;
  Jobs jobs_;
  std::vector<std::string> jobs_gone_;  // Jobs whose removal is still to be reported.
  std::size_t tasks_shown_ = 0;
  std::map<PublicKey, ShownWorker> workers_;
  std::uint32_t next_number_ = 1;
};

}  // namespace weft::dashboard
