// The shared state of the parts of a simulated run: the setup, the attack, the policy that is
// attacked (the real scheduler and referee), random numbers and time.
//
// Lifetime: the Scene must outlive it. Not safe to share between threads.
#pragma once

#include <memory>
#include <vector>

#include "decisions/scheduler/scheduler.h"
#include "decisions/trust/attacks/event_queue.h"
#include "decisions/trust/attacks/setup.h"
#include "decisions/trust/attacks/strategy.h"
#include "decisions/trust/referee.h"

namespace weft::trust::attacks {

struct ArenaContext {
  // If `entry` is null, all workers are honest.
  ArenaContext(const Scene& scene, const Entry* entry, const Plan& attack);

  const Scene& setup;
  const Plan plan;
  const std::unique_ptr<Strategy> strategy;
  Random random;
  scheduler::Scheduler scheduler;
  const Secret secret;  // The secret of the referee.
  Referee referee;
  EventQueue events;

  [[nodiscard]] double time() const { return events.time(); }
  [[nodiscard]] UnixMillis unix() const;
  [[nodiscard]] Instant now() const { return instant(time()); }
  [[nodiscard]] static Instant instant(double seconds);
  // Converts an amount in prices of a task to micro-credits.
  [[nodiscard]] double credits(double prices) const;
};

// Carries out the rulings of the referee.
class RulingsSink {
 public:
  virtual ~RulingsSink() = default;
  virtual void follow(const std::vector<Ruling>& rulings) = 0;
};

}  // namespace weft::trust::attacks
