// The tables that the parts of the referee share. Each table is a class that keeps its own
// invariant.
#pragma once

#include "common/base/clock.h"
#include "decisions/trust/draw.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_settings.h"
#include "decisions/trust/standing.h"
#include "decisions/trust/task_cases.h"
#include "decisions/trust/task_stakes.h"
#include "decisions/trust/traps.h"
#include "decisions/trust/trust.h"

namespace weft::trust {

struct RefereeTables {
  RefereeTables(RefereeSettings the_settings, const Secret& the_secret)
      : settings(the_settings), secret(the_secret) {}
  RefereeTables(const RefereeTables&) = delete;

  const RefereeSettings settings;
  const Secret secret;
  Trust votes;
  Standing standing{settings};
  TaskStakes stakes{settings, standing};
  TaskCases cases;
  TrapPool traps;
  UnixMillis now = 0;  // The time of the current event.

  // Begins the pass of an event that comes at this time.
  [[nodiscard]] RefereePass begin(UnixMillis at) {
    now = at;
    return {.now = at};
  }
  [[nodiscard]] std::uint32_t jury() const {
    return jury_lead(settings.checks.error, settings.checks.collusion);
  }
};

}  // namespace weft::trust
