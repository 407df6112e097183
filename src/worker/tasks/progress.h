// The progress of one leased task that is computed part by part: the number of parts that are done,
// the options of the next run, and the state as a checkpoint, from which any other worker computes
// the same bytes.
//
// The parts of a job that can be cut are workgroups along the split axis, and its state is the
// outputs of the parts that are done. The parts of any other wgsl job are its steps, and its state
// is all outputs after the last step that was run. A kernel that cannot be cut, or a job of one
// step, has one part and no checkpoints.
//
// A checkpoint is a blob (proof/task_state.h). If it does not fit the task, resume() fails with
// data_loss, and the task begins at its start.
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
  // The task's range must lie within the job.
  Progress(const Task& task, std::shared_ptr<const exec::Job> job);

  [[nodiscard]] std::uint32_t of() const { return of_; }
  [[nodiscard]] std::uint32_t done() const { return done_; }
  // The most parts that the next run may have.
  [[nodiscard]] std::uint32_t run_max() const;
  [[nodiscard]] bool complete() const { return done_ == of_; }
  // The share of the parts that came out of a checkpoint.
  [[nodiscard]] double resumed() const { return static_cast<double>(resumed_) / of_; }

  // Commits to the state after each group of steps; `room` bounds the states that are kept. Does
  // nothing if the job has no groups. Must be called before any part is run.
  void commit_steps(std::shared_ptr<StateRoom> room);
  // Null if the task commits to no states.
  [[nodiscard]] std::shared_ptr<const StepTrace> steps() const { return steps_; }

  // The options to run the next `count` parts, of which there are at most run_max().
  [[nodiscard]] exec::RunOptions next(std::uint32_t count) const;
  // Adds the output of the next `count` parts, which were run with next().
  void take(std::uint32_t count, exec::Output output);
  // Starts the task again as one run of all parts, without roots of steps. For shaders that can
  // only run whole.
  void run_whole();
  // The output of all parts that were run here. Must be called when the task is complete.
  [[nodiscard]] exec::Output finish();

  [[nodiscard]] ByteVector checkpoint() const;
  // Continues from a checkpoint. Must be called before any part is run. The task then commits to no
  // steps, because the states before the checkpoint are missing. A failure changes nothing.
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
  exec::Output sums_;                               // The sums over all runs: times and dispatches.
  std::shared_ptr<StepTrace> steps_;                // Null if no roots of steps are wanted.
};

// The number of parts to run at once, so that they take about `target` seconds; all parts that are
// left if they take at most half as long again. `each` is the time of one part in the last run. If
// it is 0 (not known), a small share of the parts is run to measure it.
[[nodiscard]] std::uint32_t parts_for(const Progress& progress, double each, double target);

}  // namespace weft::worker
