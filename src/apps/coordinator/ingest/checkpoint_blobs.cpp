#include "apps/coordinator/ingest/checkpoint_blobs.h"

#include <string_view>

#include "common/base/byte_reader.h"

namespace weft::coordinator {

namespace {

constexpr std::string_view magic = "weftckp1";  // The job's id and the task's index follow.
constexpr std::size_t head_bytes = magic.size() + JobId::size + sizeof(std::uint32_t);

}  // namespace

std::optional<TaskId> checkpointed_task(const store::Blobs& blobs, const Hash& blob) {
  const auto size = blobs.size(blob);
  if (!size || *size < head_bytes) return {};
  const auto head = blobs.read(blob, 0, head_bytes);
  if (!head || !as_text(*head).starts_with(magic)) return {};
  ByteReader in(ByteSpan(*head).subspan(magic.size()));
  const auto job = in.fixed<JobId>();
  return TaskId{.job = job, .index = in.integer<std::uint32_t>()};
}

}  // namespace weft::coordinator
