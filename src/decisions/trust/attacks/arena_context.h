// What the parts of a simulated run share: the setup, the attack, the policy that is attacked (the
// real scheduler and referee), chance and time.
//
// Lifetime: the Scene outlives it. Not for several threads.
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
  // Without an entry all workers are honest.
  ArenaContext(const Scene& scene, const Entry* entry, const Plan& attack);

  const Scene& setup;
  const Plan plan;
  const std::unique_ptr<Strategy> strategy;
  Random random;
  scheduler::Scheduler scheduler;
  const Secret secret;  // The referee's.
  Referee referee;
  EventQueue events;

  [[nodiscard]] double time() const { return events.time(); }
  [[nodiscard]] UnixMillis unix() const;
  [[nodiscard]] Instant now() const { return instant(time()); }
  [[nodiscard]] static Instant instant(double seconds);
  // Micro-credits of so many prices of a task.
  [[nodiscard]] double credits(double prices) const;
};

// Carries out what the referee rules.
class RulingsSink {
 public:
  virtual ~RulingsSink() = default;
  virtual void follow(const std::vector<Ruling>& rulings) = 0;
};

}  // namespace weft::trust::attacks
