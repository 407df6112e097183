// Reads from the store the data with which the paid tasks of a convicted worker are computed again.
//
// Threading: any.
#pragma once

#include "apps/coordinator/ingest/intake.h"
#include "decisions/jobs/world.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// A page of the worker's paid tasks. A task whose job cannot be read has no manifest. If the store
// cannot be read, the page is empty and the error is logged.
[[nodiscard]] jobs::PaidFound find_paid(const jobs::FindPaid& order, store::Store& store);

// The root and the joined outputs of a job that has ended, from its tasks as they are stored now.
[[nodiscard]] Result<jobs::JoinedAgain> join_again(const JobId& job, store::Store& store,
                                                   Intake& intake);

}  // namespace weft::coordinator
