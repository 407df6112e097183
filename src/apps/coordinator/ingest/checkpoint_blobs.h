// Blobs that are states of long tasks (proof/task_state.h), as far as a coordinator looks into
// them.
#pragma once

#include <optional>

#include "common/base/ids.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// The task whose state the blob is; nothing if the blob is no state or is not there.
[[nodiscard]] std::optional<TaskId> checkpointed_task(const store::Blobs& blobs, const Hash& blob);

}  // namespace weft::coordinator
