// How the steps of a task that cannot be cut are run one after the other, a few at a time, each run
// from the outputs of the one before: so a check of the whole task may take longer than one run
// may. Pure: what runs took is passed in.
//
// The first run in a process compiles the shader. It has one step, which is run again for its time:
// neither a price nor a refusal follows from what the first run took. A number of steps that ran
// out of time is not tried again for a while, since one slow step among fast ones would cost a
// whole run each time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace weft::coordinator {

// What is known of a job's steps on one device.
class StepLimit {
 public:
  // For so long after a run of some steps ran out of time there is none of as many.
  static constexpr auto ran_out_for = std::chrono::minutes(10);

  void ran(double seconds_each) {
    each_ = seconds_each;
    compiled_ = true;
  }
  // The process was ended, and the next one compiles again.
  void ran_out(std::uint32_t steps, Instant now);
  void compiled() { compiled_ = true; }

  [[nodiscard]] bool is_compiled() const { return compiled_; }
  // A step in the last run, or in the last task that was run to its end; 0: nothing is known.
  [[nodiscard]] double seconds_each() const { return each_; }
  // At most so many at once.
  [[nodiscard]] std::uint32_t steps_max(Instant now) const;

 private:
  double each_ = 0;
  std::uint32_t most_ = 0;  // After a run ran out of time; 0: none did.
  Instant ran_out_at_{};
  bool compiled_ = false;
};

class StepPlan {
 public:
  struct Bounds {
    double run_seconds = 0;   // One run may take so long,
    double task_seconds = 0;  // and all of a task, without the runs that compile.
  };
  struct Group {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    double seconds_max = 0;  // Then it is ended.
  };
  // `limit` outlives this.
  StepPlan(std::uint32_t steps, const Bounds& bounds, StepLimit& limit)
      : steps_(steps), bounds_(bounds), limit_(limit) {}

  // What to run next; nothing: all steps are done, or the rest takes too long.
  [[nodiscard]] std::optional<Group> next(Instant now) const;
  // The group was run; `elapsed` counts what it took beside its work. False: it compiled, and is
  // run again.
  [[nodiscard]] bool ran(const Group& group, double seconds, double elapsed);
  // The group ran out of time. False: no smaller one is left to try.
  [[nodiscard]] bool ran_out(const Group& group, Instant now);

  [[nodiscard]] bool is_done() const { return done_ == steps_; }
  // What the work of all steps took.
  [[nodiscard]] double seconds() const { return seconds_; }
  // How long the verifier was busy with it, runs that compiled and that ran out of time included.
  [[nodiscard]] double elapsed() const { return elapsed_; }

 private:
  // Two runs show that the rest takes more than twice the time that is left.
  [[nodiscard]] bool is_hopeless() const;
  [[nodiscard]] double seconds_left() const { return bounds_.task_seconds - spent_; }

  const std::uint32_t steps_;
  const Bounds bounds_;
  StepLimit& limit_;
  std::uint32_t done_ = 0;
  std::uint32_t runs_ = 0;  // Without those that compiled.
  double seconds_ = 0;
  double spent_ = 0;  // The task's time.
  double elapsed_ = 0;
};

}  // namespace weft::coordinator
