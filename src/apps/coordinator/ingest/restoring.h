// What a core takes up at its start: the stored rows, and what it needs to know about them from the
// ledger's trail and the blobs.
#pragma once

#include "common/base/result.h"
#include "decisions/jobs/events.h"
#include "platform/store/blobs.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// `rows` are of `store`. Reads the results of open tasks whose roots differ, if their job has a
// tolerance.
[[nodiscard]] Result<jobs::Restored> look_up(store::Loaded rows, store::Store& store,
                                             const store::Blobs& blobs, UnixMillis now);

}  // namespace weft::coordinator
