// What a welcome worker's message is to the core, one function for each kind that needs nothing
// else of its session. A new kind is a function here: Session passes every kind on that it does not
// handle itself, and does not compile without one.
//
// Threading: any.
#pragma once

#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/worker_connection.h"
#include "common/protocol/messages.h"

namespace weft::coordinator {

[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::Opening& shown);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::Checkpoint& told);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::TaskFailed& told);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::Slots& wanted);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::Beat& beat);

}  // namespace weft::coordinator
