#include "apps/coordinator/checkpoint_blobs.h"

#include <algorithm>
#include <string_view>

namespace weft::coordinator {

namespace {

constexpr std::string_view magic = "weftckp1";  // Then job and task.
constexpr std::size_t head_bytes = magic.size() + JobId::size + sizeof(std::uint32_t);

}  // namespace

std::optional<TaskId> checkpointed_task(const store::Blobs& blobs, const Hash& blob) {
  const auto size = blobs.size(blob);
  if (!size || *size < head_bytes) return {};
  const auto head = blobs.read(blob, 0, head_bytes);
  if (!head || !as_text(*head).starts_with(magic)) return {};
  const ByteSpan rest = ByteSpan(*head).subspan(magic.size());
  TaskId task;
  std::ranges::copy(rest.first(JobId::size), task.job.bytes.begin());
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) task.index |= static_cast<std::uint32_t>(rest[JobId::size + i]) << (8 * i);
  return task;
}

void each_stray_checkpoint(const store::Blobs& blobs, const std::vector<Hash>& candidates, const std::set<Hash>& named, const std::stop_token& stop,
                           const std::function<void(const Hash&)>& use) {
  for (const Hash& blob : candidates) {
    if (stop.stop_requested()) return;
    if (!named.contains(blob) && checkpointed_task(blobs, blob)) use(blob);
  }
}

}  // namespace weft::coordinator
