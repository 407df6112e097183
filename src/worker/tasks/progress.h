// The progress of one leased task, which is computed part by part: the number of parts that are
// done, the next run, and the state as a checkpoint, from which any other worker continues to the
// same bytes.
//
// The parts are workgroups along the split axis if the job can be cut; the state is then the
// outputs of the parts that are done. Otherwise the parts are the steps of a wgsl job; the state is
// then all outputs after the last step that was run. A kernel that cannot be cut, or a job of one
// step, has one part and no checkpoints.
//
// A checkpoint is a blob (proof/task_state.h). A checkpoint that does not fit the task is
// data_loss, and the task then begins at its start.
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
  // `task.range` must lie within the job.
  Progress(const Task& task, std::shared_ptr<const exec::Job> job);

  [[nodiscard]] std::uint32_t of() const { return of_; }
  [[nodiscard]] std::uint32_t done() const { return done_; }
  // The most parts that the next run may have.
  [[nodiscard]] std::uint32_t run_max() const;
  [[nodiscard]] bool complete() const { return done_ == of_; }
  // The share of the task that came out of a checkpoint.
  [[nodiscard]] double resumed() const { return static_cast<double>(resumed_) / of_; }

  // Commits to the state after each group of steps; `room` bounds the states that are kept. Does
  // nothing if the job has no groups. Call it before the first run.
  void commit_steps(std::shared_ptr<StateRoom> room);
  // The committed states of the steps; null if the task commits to none.
  [[nodiscard]] std::shared_ptr<const StepTrace> steps() const { return steps_; }

  // The options to run the next `count` parts, at most run_max().
  [[nodiscard]] exec::RunOptions next(std::uint32_t count) const;
  // Adds the output of the next `count` parts, which were run.
  void take(std::uint32_t count, exec::Output output);
  // Starts the task again as one part that commits to no steps. For shaders whose origin cannot be
  // told.
  void run_whole();
  // Returns the output of all parts that were run here. Call it once the task is complete.
  [[nodiscard]] exec::Output finish();

  [[nodiscard]] ByteVector checkpoint() const;
  // Continues from a checkpoint. Call it before the first run. The task then commits to no steps,
  // because the states before the checkpoint are missing. A failure changes nothing.
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
  exec::Output sums_;                               // Sums of the times and dispatches of the runs.
  std::shared_ptr<StepTrace> steps_;                // Null if no roots of steps are wanted.
};

// Returns the number of parts to run at once, so that the run takes about `target` seconds, or all
// remaining parts if few more are left. `each` is the time that one part took last; 0 if it is not
// known yet: then a small number of parts measures it.
[[nodiscard]] std::uint32_t parts_for(const Progress& progress, double each, double target);

}  // namespace weft::worker
