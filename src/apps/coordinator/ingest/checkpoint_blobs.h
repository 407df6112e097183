// Recognises blobs that are states of unfinished tasks (common/proof/task_state.h). The coordinator
// reads only their first bytes.
#pragma once

#include <optional>

#include "common/base/ids.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// The task that a checkpoint belongs to; empty if the blob is not a checkpoint or does not exist.
[[nodiscard]] std::optional<TaskId> checkpointed_task(const store::Blobs& blobs, const Hash& blob);

}  // namespace weft::coordinator
