// What the core asks of the store when a convicted worker's paid tasks are computed again.
//
// Threading: any.
#pragma once

#include "apps/coordinator/ingest/intake.h"
#include "decisions/jobs/world.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// Tasks whose jobs cannot be read are left out, and logged.
[[nodiscard]] jobs::PaidFound find_paid(const jobs::FindPaid& order, store::Store& store);

// The root and the outputs of a job that has ended, from its tasks as they are stored now.
[[nodiscard]] Result<jobs::JoinedAgain> join_again(const JobId& job, store::Store& store,
                                                   Intake& intake);

}  // namespace weft::coordinator
