#include "apps/coordinator/ingest/step_plan.h"

#include <algorithm>
#include <limits>

namespace weft::coordinator {

void StepLimit::ran_out(std::uint32_t steps, Instant now) {
  constexpr std::uint32_t less = 8;  // Large, so that few runs are lost until a run has one step.
  most_ = std::max(steps / less, 1U);
  ran_out_at_ = now;
  compiled_ = false;
}

std::uint32_t StepLimit::steps_max(Instant now) const {
  return most_ == 0 || now - ran_out_at_ >= ran_out_for ? std::numeric_limits<std::uint32_t>::max()
                                                        : most_;
}

std::optional<StepPlan::Group> StepPlan::next(Instant now) const {
  if (is_done() || seconds_left() <= 0 || is_hopeless()) return {};
  const std::uint32_t left = steps_ - done_;
  const double each = limit_.seconds_each();
  std::uint32_t count = 1;
  if (limit_.is_compiled() && each > 0) {
    // A run is planned for half of its time limit, because some steps take longer than others.
    const double wanted = bounds_.run_seconds / 2 / each;
    count = wanted * 1.5 >= left ? left : static_cast<std::uint32_t>(std::max(wanted, 1.0));
  }
  return Group{.first = done_,
               .count = std::min(count, limit_.steps_max(now)),
               .seconds_max = std::min(bounds_.run_seconds, seconds_left())};
}

bool StepPlan::ran(const Group& group, double seconds, double elapsed) {
  elapsed_ += std::max(seconds, elapsed);
  if (!limit_.is_compiled()) {
    limit_.compiled();
    return false;
  }
  limit_.ran(seconds / group.count);
  spent_ += std::max(seconds, elapsed);
  seconds_ += seconds;
  done_ += group.count;
  ++runs_;
  // The next check runs all steps again, so the mean of all steps is kept, not the last run's.
  if (is_done()) limit_.ran(seconds_ / steps_);
  return true;
}

bool StepPlan::ran_out(const Group& group, Instant now) {
  elapsed_ += group.seconds_max;
  spent_ += group.seconds_max;
  // The run was given less than a whole run's time, because the task's time ended. Its failure
  // shows no limit of steps.
  if (group.seconds_max < bounds_.run_seconds) return false;
  limit_.ran_out(group.count, now);
  return group.count > 1;
}

bool StepPlan::is_hopeless() const {
  if (runs_ < 2) return false;
  const double each = seconds_ / done_;
  return each * (steps_ - done_) > 2 * seconds_left();
}

}  // namespace weft::coordinator
