#include "apps/coordinator/ingest/output_room.h"

#include <algorithm>
#include <unordered_map>

#include "common/manifest/split.h"

namespace weft::coordinator {

namespace {

// Replicas that are compared by their bytes are the same blob, if they agree.
std::uint64_t copies_of(const manifest::Manifest& manifest) {
  return manifest.verify.compare.exact ? 1 : std::max<std::uint64_t>(1, manifest.verify.replicas);
}

}  // namespace

store::Room::Needs room_of(const manifest::Manifest& manifest, bool apart_for_known) {
  const std::size_t outputs = manifest.output_bytes().size();
  std::uint64_t bytes = 0;
  for (std::uint32_t task = 0; task < manifest.split.tasks; ++task) {
    const auto range = manifest::task_range(manifest, task);
    for (std::size_t i = 0; i < outputs; ++i)
      bytes += manifest::output_extent(manifest, i, range).size;
  }
  // The outputs of one task are the job's as they stand.
  return {.results = bytes * copies_of(manifest),
          .of_known = apart_for_known ? bytes : 0,
          .join = manifest.split.tasks > 1 ? bytes : 0};
}

void restore_room(const store::Loaded& rows, store::Room& room, bool apart_for_known) {
  std::unordered_map<JobId, std::uint64_t> accepted;
  for (const store::Task& task : rows.tasks) {
    for (const store::OutputBlob& output : task.outputs) accepted[task.id.job] += output.bytes;
  }
  for (const store::Job& job : rows.jobs) {
    const auto manifest = manifest::parse(job.manifest);
    if (!manifest) continue;  // The core says so.
    auto needs = room_of(*manifest, apart_for_known);
    needs.results -= std::min(needs.results, accepted[job.id] * copies_of(*manifest));
    needs.of_known -= std::min(needs.of_known, accepted[job.id]);
    room.restore(job.id, needs);
  }
}

}  // namespace weft::coordinator
