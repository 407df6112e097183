// Preemption: an urgent task takes the place of a long one of less worth, which goes on later from
// its checkpoint. Decisions and state only: who is told to stop, and what a task resumes from.
//
//   preemption.began(run, worker, {...}, now);              a lease, the first or a later one
//   preemption.checkpointed(run, worker, {blob, 0.4});      the worker has stored 40 % of the
//   task's work as this blob if (auto stop = preemption.make_way(urgent, now)) ...   Preempt: stop
//   it now, it resumes from `from`; or AtCheckpoint: it is
//                                                           stopped when its next checkpoint is
//                                                           there (checkpointed() says so)
//   preemption.resume_from(run)                             goes with the run's next lease
//   preemption.lost(run); preemption.done(run); preemption.ended(task);
//
// A run is a task if any worker may continue from its state, and one worker's replica of it if only
// that worker may (docs/decisions/0006): replicas are preempted one by one, and what one of them
// lost is its own.
//
// What is lost: work since the last checkpoint is done again. Over all its preemptions a task loses
// at most lost_max of its work: where stopping at once would cost more than is left of that, the
// next checkpoint is waited for, which costs nothing.
//
// No thrash: a task that was (re)started is left alone for run_min * 2^(preemptions so far), so
// that a task of w seconds is preempted at most log2(w / run_min + 1) times however many urgent
// ones come; its score counts advantage_min / 2 more after each; and no run is stopped that ends
// within rest_min, or for a task that would start within rest_min elsewhere.
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
  double done = 0;  // The share of the task's work that it holds, in [0, 1].
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct RunId {
  TaskId task;
  PublicKey owner{};  // Zeros: any worker.

  RunId(const TaskId& its_task, const PublicKey& its_owner = {})
      : task(its_task), owner(its_owner) {}
  friend auto operator<=>(const RunId&, const RunId&) = default;
};

struct Preempt {
  TaskId victim;
  PublicKey worker;
  std::optional<Checkpoint> from;  // What it resumes from; nothing: from the start.
  double lost = 0;                 // Share of its work that is done again.
};
struct AtCheckpoint {
  TaskId victim;
  PublicKey worker;
};

class Preemption {
 public:
  struct Settings {
    double lost_max = 0.05;
    double advantage_min = 0.2;  // Difference of scores (score.h).
    Duration run_min = std::chrono::seconds(10);
    Duration rest_min = std::chrono::seconds(2);
  };
  struct Run {
    double score = 0;
    double seconds = 0;  // What the whole task takes on this worker, as predicted.
  };
  struct Urgent {
    double score = 0;
    Duration starts_in = Duration::max();  // If no run makes way; max: not known.
    // Whether it could have that place.
    std::function<bool(const PublicKey& worker, const TaskId& victim)> fits;
  };

  Preemption() : Preemption(Settings{}) {}
  explicit Preemption(Settings settings) : settings_(settings) {}

  void began(const RunId& id, const PublicKey& worker, const Run& run, Instant now);
  // Nothing where the worker does not run the task, or the checkpoint is behind the one that is
  // known. A Preempt where its place is wanted: stop it now.
  std::optional<Preempt> checkpointed(const RunId& id, const PublicKey& worker,
                                      const Checkpoint& checkpoint, Instant now);

  // Whether any run, on any worker, could make way for a task of this score. Cheaper than
  // make_way(), which also asks whether the task fits the place.
  [[nodiscard]] bool has_victim(double score, Instant now) const;

  struct Way {
    std::optional<Preempt> now;
    std::optional<AtCheckpoint> later;
  };
  // The task of least worth whose place the urgent one may have. A Preempt has happened as far as
  // this is concerned: the victim does not run any more. Neither: no run may be stopped.
  [[nodiscard]] Way make_way(const Urgent& urgent, Instant now);

  // The lease ended without a result: the checkpoint stays, and what was done since does not count
  // as preempted.
  void lost(const RunId& id);
  // With a result: no run of it is known any more.
  void done(const RunId& id);
  // Failed finally or settled: none of its runs is known any more.
  void ended(const TaskId& task);

  [[nodiscard]] std::optional<Checkpoint> resume_from(const RunId& id) const;
  // Whether there is anything to stop.
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] std::uint32_t preemptions(const RunId& id) const;
  // Share of its work that it does again because of preemptions, so far.
  [[nodiscard]] double lost_so_far(const RunId& id) const;

 private:
  struct State {
    PublicKey worker{};
    Run run;
    Instant began{};  // The last time.
    Instant known{};  // When so much of its work was done:
    double done_known = 0;
    bool running = false;
    bool wanted = false;  // Its place: at its next checkpoint.
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
