// Plans the runs of a task of several steps that cannot be cut: a few steps at a time, each run
// from the outputs of the run before, so that a check of the whole task may take longer than one
// run may. Pure: the caller passes in the times that runs took.
//
// The first run in a process compiles the shader. It has one step, which is run again to measure
// its time, so that neither a price nor a refusal follows from the first run. A number of steps
// that ran out of time is not tried again for a while, because one slow step among fast ones would
// cost a whole run each time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace weft::coordinator {

// The measured speed of a job's steps on one device, and the number of steps that took too long.
class StepLimit {
 public:
  // For this time after a run of n steps ran out of time, a run has at most n / 8 steps, but at
  // least one.
  static constexpr auto ran_out_for = std::chrono::minutes(10);

  void ran(double seconds_each) {
    each_ = seconds_each;
    compiled_ = true;
  }
  // Records that a run of `steps` steps ran out of time. The process of the run was ended, so the
  // next process compiles the shader again.
  void ran_out(std::uint32_t steps, Instant now);
  void compiled() { compiled_ = true; }

  [[nodiscard]] bool is_compiled() const { return compiled_; }
  // The seconds of a step in the last run, or in the last task that was run to its end; 0 if no
  // step was measured.
  [[nodiscard]] double seconds_each() const { return each_; }
  // The most steps that one run may have now.
  [[nodiscard]] std::uint32_t steps_max(Instant now) const;

 private:
  double each_ = 0;
  std::uint32_t most_ = 0;  // The most steps after a run ran out of time; 0 if none did.
  Instant ran_out_at_{};
  bool compiled_ = false;
};

class StepPlan {
 public:
  struct Bounds {
    double run_seconds = 0;   // The time limit of one run.
    double task_seconds = 0;  // The limit of all runs of a task, without those that compile.
  };
  struct Group {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    double seconds_max = 0;  // The run is ended after this time.
  };
  // `limit` must outlive the plan.
  StepPlan(std::uint32_t steps, const Bounds& bounds, StepLimit& limit)
      : steps_(steps), bounds_(bounds), limit_(limit) {}

  // Returns the steps to run next; nullopt if all steps are done or the rest takes too long.
  [[nodiscard]] std::optional<Group> next(Instant now) const;
  // Records a run of the group. `seconds` is the time of the work, `elapsed` that of the whole run
  // with its overhead. Returns false if the run compiled, and the group must be run again.
  [[nodiscard]] bool ran(const Group& group, double seconds, double elapsed);
  // Records that the group ran out of time. Returns false if no smaller group may be tried: the
  // group had one step, or the task's time has ended.
  [[nodiscard]] bool ran_out(const Group& group, Instant now);

  [[nodiscard]] bool is_done() const { return done_ == steps_; }
  // The seconds that the work of all steps took.
  [[nodiscard]] double seconds() const { return seconds_; }
  // The seconds that the verifier was busy with the task, including runs that compiled or ran out
  // of time.
  [[nodiscard]] double elapsed() const { return elapsed_; }

 private:
  // True if at least two runs show that the remaining steps take more than twice the remaining
  // time.
  [[nodiscard]] bool is_hopeless() const;
  [[nodiscard]] double seconds_left() const { return bounds_.task_seconds - spent_; }

  const std::uint32_t steps_;
  const Bounds bounds_;
  StepLimit& limit_;
  std::uint32_t done_ = 0;
  std::uint32_t runs_ = 0;  // The number of runs that did not compile.
  double seconds_ = 0;
  double spent_ = 0;  // The part of task_seconds that is used.
  double elapsed_ = 0;
};

}  // namespace weft::coordinator
