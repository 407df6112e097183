#include "apps/coordinator/ingest/checkpoint_blobs.h"

#include "common/proof/task_state.h"

namespace weft::coordinator {

std::optional<TaskId> checkpointed_task(const store::Blobs& blobs, const Hash& blob) {
  const auto size = blobs.size(blob);
  if (!size || *size < proof::state_head_bytes) return {};
  const auto head = blobs.read(blob, 0, proof::state_head_bytes);
  return head ? proof::stated_task(*head) : std::nullopt;
}

}  // namespace weft::coordinator
