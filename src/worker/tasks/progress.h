// One leased task as it is computed, part by part: how far it is, what comes next, and its state as
// a checkpoint, from which any other worker goes on to the same bytes.
//
// The parts are workgroups along the split axis where the job can be cut (the state: the outputs of
// those that are done), else the steps of a wgsl job (the state: all outputs after the last one
// that was run). A kernel that cannot be cut, or a job of one step, has one part and no
// checkpoints.
//
// A checkpoint is a blob (proof/task_state.h). Whatever of it does not fit the task is data_loss,
// and the task begins at its start.
//
// If roots of steps are wanted, no run goes beyond the end of a group of steps (step_trace.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/manifest/split.h"
#include "common/proof/task_state.h"
#include "engine/exec/executor.h"
#include "worker/tasks/step_trace.h"

namespace weft::worker {

class Progress {
 public:
  struct Task {
    TaskId id;
    Hash manifest;
    manifest::Range range;
    std::uint32_t piece_workgroups_max = 0;
  };
  // The range lies within the job.
  Progress(const Task& task, std::shared_ptr<const exec::Job> job);

  [[nodiscard]] std::uint32_t of() const { return of_; }
  [[nodiscard]] std::uint32_t done() const { return done_; }
  // The most parts that the next run may have.
  [[nodiscard]] std::uint32_t run_max() const;
  [[nodiscard]] bool complete() const { return done_ == of_; }
  // The share that was not computed here.
  [[nodiscard]] double resumed() const { return static_cast<double>(resumed_) / of_; }

  // Commits to the state after each group of steps; `room` bounds the states that are kept. Does
  // nothing if the job has no groups. Before anything was run.
  void commit_steps(std::shared_ptr<StateRoom> room);
  // Null if there is nothing that the task commits to.
  [[nodiscard]] std::shared_ptr<const StepTrace> steps() const { return steps_; }

  // How to run the next `count` parts; at most run_max().
  [[nodiscard]] exec::RunOptions next(std::uint32_t count) const;
  // They were run.
  void take(std::uint32_t count, exec::Output output);
  // Not in parts: it begins again, as a whole, and commits to no steps. For shaders whose origin
  // cannot be told.
  void run_whole();
  // The output of all that was run here; once it is complete.
  [[nodiscard]] exec::Output finish();

  [[nodiscard]] ByteVector checkpoint() const;
  // Before anything was run. The task then commits to no steps, because the states before the
  // checkpoint are missing. On failure nothing has changed.
  [[nodiscard]] Result<> resume(ByteSpan checkpoint);

 private:
  using Unit = proof::StatedTask::Unit;
  [[nodiscard]] proof::StatedTask stated() const;
  [[nodiscard]] std::vector<std::uint64_t> state_bytes(std::uint32_t done) const;

  Task task_;
  std::shared_ptr<const exec::Job> job_;
  Unit unit_ = Unit::workgroups;
  std::uint32_t of_ = 1;
  std::uint32_t done_ = 0;
  std::uint32_t resumed_ = 0;
  bool whole_ = false;
  std::shared_ptr<std::vector<ByteVector>> state_;  // Null before the first part.
  exec::Output sums_;                               // Its figures.
  std::shared_ptr<StepTrace> steps_;                // Null if no roots of steps are wanted.
};

// How many parts to run at once, so that they take about `target` seconds; all that are left where
// little more is. `each` is what one took last, 0 where that is not known yet: then a small share
// shows it.
[[nodiscard]] std::uint32_t parts_for(const Progress& progress, double each, double target);

}  // namespace weft::worker
