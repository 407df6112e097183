#include "apps/coordinator/ingest/worker_messages.h"

#include <utility>

#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/result_intake.h"
#include "decisions/jobs/verification_leases.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::coordinator {

CoreEvent event_of(jobs::SessionId id, const Intake& /*intake*/, const protocol::Opening& shown) {
  return [id, shown](jobs::Core& core, jobs::Moment now) { core.checks().opened(id, shown, now); };
}

CoreEvent event_of(jobs::SessionId id, const Intake& intake, const protocol::Checkpoint& told) {
  const jobs::SavedState saved{.session = id, .told = told, .is_stored = intake.holds(told)};
  return [saved](jobs::Core& core, jobs::Moment now) { core.checkpoints().saved(saved, now); };
}

CoreEvent event_of(jobs::SessionId id, const Intake& intake, const protocol::States& told) {
  jobs::SentStates sent{.session = id, .told = told, .is_stored = {}};
  for (const protocol::StepState& state : told.states)
    sent.is_stored.push_back(intake.holds(told.task, state));
  return [sent = std::move(sent)](jobs::Core& core, jobs::Moment now) {
    core.checks().states_sent(sent, now);
  };
}

CoreEvent event_of(jobs::SessionId id, const Intake& /*intake*/, const protocol::TaskFailed& told) {
  return [id, told](jobs::Core& core, jobs::Moment now) { core.results().failed(id, told, now); };
}

CoreEvent event_of(jobs::SessionId id, const Intake& /*intake*/, const protocol::Slots& wanted) {
  return [id, count = wanted.slots](jobs::Core& core, jobs::Moment now) {
    core.sessions().slots(id, count, now);
  };
}

CoreEvent event_of(jobs::SessionId id, const Intake& /*intake*/, const protocol::Beat& /*beat*/) {
  return [id](jobs::Core& core, jobs::Moment now) { core.sessions().beat(id, now); };
}

}  // namespace weft::coordinator
