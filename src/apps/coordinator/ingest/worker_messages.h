// Turns a welcome worker's message into an event for the core: one function for each kind of
// message that needs no other state of its session. Session passes on every kind that it does not
// handle itself, and does not compile if the function for a kind is missing.
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
                                 const protocol::States& told);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::TaskFailed& told);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::Slots& wanted);
[[nodiscard]] CoreEvent event_of(jobs::SessionId id, const Intake& intake,
                                 const protocol::Beat& beat);

}  // namespace weft::coordinator
