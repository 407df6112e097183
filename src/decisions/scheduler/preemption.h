// Preemption: an urgent task takes the place of a long task of less worth, which goes on later from
// its checkpoint. This part makes decisions and keeps their state: it names the run that is told to
// stop, and the checkpoint from which a task resumes.
//
//   // A lease was given, the first of the run or a later one.
//   preemption.began(run, worker, {...}, now);
//   // The worker has stored 40 % of the task's work as this blob.
//   preemption.checkpointed(run, worker, {blob, 0.4});
//   // `now`: stop the victim now; it resumes from `from`. `later`: the victim is stopped when its
//   // next checkpoint is stored (checkpointed() says so).
//   auto way = preemption.make_way(urgent, now);
//   // Goes with the run's next lease.
//   preemption.resume_from(run);
//   preemption.lost(run); preemption.done(run); preemption.ended(task);
//
// A run is a task if any worker may continue from its state, and one worker's replica of a task if
// only that worker may (docs/decisions/0006). In the second case replicas are preempted one by one,
// and each replica has its own count of lost work.
//
// Loss: the work since the last checkpoint is done again. Over all its preemptions a task loses at
// most lost_max of its work. If stopping at once would exceed that, the task is stopped at its next
// checkpoint, which costs nothing.
//
// No thrashing: a task that was (re)started is not preempted for run_min * 2^(preemptions so far).
// So a task of w seconds is preempted at most log2(w / run_min + 1) times however many urgent tasks
// come. The task's score counts advantage_min / 2 more after each preemption. A run is not stopped
// if it ends within rest_min, or if the urgent task would start within rest_min on another worker.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

struct Checkpoint {
  Hash blob;
  double done = 0;  // The share of the task's work that the checkpoint holds, in [0, 1].
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct RunId {
  TaskId task;
  PublicKey owner{};  // Zeros if any worker may continue the run.

  RunId(const TaskId& its_task, const PublicKey& its_owner = {})
      : task(its_task), owner(its_owner) {}
  friend auto operator<=>(const RunId&, const RunId&) = default;
};

struct Preempt {
  TaskId victim;
  PublicKey worker;
  std::optional<Checkpoint> from;  // Where the victim resumes; no value: from the start.
  double lost = 0;                 // The share of the task's work that is done again.
};
struct AtCheckpoint {
  TaskId victim;
  PublicKey worker;
};

class Preemption {
 public:
  struct Settings {
    double lost_max = 0.05;
    double advantage_min = 0.2;  // Least difference of the two tasks' scores (score.h).
    Duration run_min = std::chrono::seconds(10);
    Duration rest_min = std::chrono::seconds(2);
  };
  struct Run {
    double score = 0;
    double seconds = 0;  // Predicted for the whole task on this worker.
  };
  struct Urgent {
    double score = 0;
    // Time until the urgent task can start if no run makes way; max: unknown.
    Duration starts_in = Duration::max();
    // True if the urgent task could run in the place of `victim` on `worker`.
    std::function<bool(const PublicKey& worker, const TaskId& victim)> fits;
  };

  Preemption() : Preemption(Settings{}) {}
  explicit Preemption(Settings settings) : settings_(settings) {}

  void began(const RunId& id, const PublicKey& worker, const Run& run, Instant now);
  // Records a checkpoint. Returns a Preempt if the run's place is wanted: stop the run now. Does
  // nothing if the worker does not run the task, or if the checkpoint holds less work than the
  // known one.
  std::optional<Preempt> checkpointed(const RunId& id, const PublicKey& worker,
                                      const Checkpoint& checkpoint, Instant now);

  // True if any run, on any worker, could make way for a task of this score. This is cheaper than
  // make_way(), which also asks if the task fits the place.
  [[nodiscard]] bool has_victim(double score, Instant now) const;

  struct Way {
    std::optional<Preempt> now;
    std::optional<AtCheckpoint> later;
  };
  // Chooses the task of least worth whose place the urgent task may have. If `now` is set, the
  // victim counts as stopped from this call on. If neither `now` nor `later` is set, no run may be
  // stopped.
  [[nodiscard]] Way make_way(const Urgent& urgent, Instant now);

  // The lease ended without a result. The checkpoint stays known, and the work since the checkpoint
  // does not count as lost by preemption.
  void lost(const RunId& id);
  // The run ended with a result and is forgotten.
  void done(const RunId& id);
  // The task was settled or failed finally: all its runs are forgotten.
  void ended(const TaskId& task);

  [[nodiscard]] std::optional<Checkpoint> resume_from(const RunId& id) const;
  // True if there is no run that could be stopped.
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] std::uint32_t preemptions(const RunId& id) const;
  // The share of the run's work that is done again because of its preemptions so far.
  [[nodiscard]] double lost_so_far(const RunId& id) const;

 private:
  struct State {
    PublicKey worker{};
    Run run;
    Instant began{};  // When the run began the last time.
    Instant known{};  // When done_known was reported.
    double done_known = 0;
    bool running = false;
    bool wanted = false;  // True if the run is to stop at its next checkpoint.
    std::optional<Checkpoint> checkpoint;
    std::uint32_t preemptions = 0;
    double lost = 0;
  };
  [[nodiscard]] static double done_by(const State& state, Instant now);
  [[nodiscard]] bool may_stop(const RunId& id, const State& state, const Urgent& urgent,
                              Instant now) const;
  Preempt stop(const RunId& id, State& state, Instant now);

  Settings settings_;
  std::map<RunId, State> runs_;
};

}  // namespace weft::scheduler
