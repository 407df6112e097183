// Collects what a core needs at its start: the stored rows, and facts about them from the ledger's
// trail and the blobs.
#pragma once

#include "common/base/result.h"
#include "decisions/jobs/events.h"
#include "platform/store/blobs.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// `rows` were loaded from `store`. If a job has a tolerance, this reads the results of its open
// tasks whose roots differ.
[[nodiscard]] Result<jobs::Restored> look_up(store::Loaded rows, store::Store& store,
                                             const store::Blobs& blobs, UnixMillis now);

}  // namespace weft::coordinator
