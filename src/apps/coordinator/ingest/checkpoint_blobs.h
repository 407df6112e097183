// Blobs that are states of long tasks (worker/tasks/progress.h), as far as a coordinator looks into
// them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "common/base/ids.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// The task whose state the blob is; nothing if the blob is no state or is not there.
[[nodiscard]] std::optional<TaskId> checkpointed_task(const store::Blobs& blobs, const Hash& blob);

// Gives those of `candidates` that are states of tasks but not `named`: what was uploaded by
// workers that were lost before they could say so, and what a crash of ours forgot. Reads the head
// of every candidate.
void each_stray_checkpoint(const store::Blobs& blobs, const std::vector<Hash>& candidates,
                           const std::set<Hash>& named, const std::stop_token& stop,
                           const std::function<void(const TaskId&, const Hash&)>& use);

}  // namespace weft::coordinator
