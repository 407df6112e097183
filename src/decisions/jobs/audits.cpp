#include "decisions/jobs/audits.h"

#include <algorithm>

#include "common/proof/merkle.h"
#include "decisions/trust/audit.h"

namespace weft::jobs {

std::vector<protocol::ChunkName> chunks_to_open(const manifest::Manifest& manifest,
                                                std::uint32_t index, manifest::Range range) {
  const auto whole = manifest::task_range(manifest, index);
  std::vector<protocol::ChunkName> all;
  for (std::uint32_t output = 0; output < manifest.output_bytes().size(); ++output) {
    const auto of_task = manifest::output_extent(manifest, output, whole);
    const auto wanted = manifest::output_extent(manifest, output, range);
    if (wanted.size == 0) continue;
    const std::uint64_t first = (wanted.offset - of_task.offset) / proof::chunk_bytes;
    const std::uint64_t last =
        (wanted.offset - of_task.offset + wanted.size - 1) / proof::chunk_bytes;
    for (std::uint64_t chunk = first; chunk <= last; ++chunk)
      all.push_back({.output = output, .chunk = chunk});
  }
  if (all.size() <= protocol::opened_chunks_max) return all;
  std::vector<protocol::ChunkName> spread;
  for (std::size_t i = 0; i < protocol::opened_chunks_max; ++i)
    spread.push_back(all[i * all.size() / protocol::opened_chunks_max]);
  return spread;
}

std::optional<trust::Part> part_of(const std::optional<manifest::Range>& range) {
  if (!range) return {};
  return trust::Part{.first = range->first, .count = range->count};
}

scheduler::SampleQueue::Outcome sample_outcome(trust::AuditOutcome outcome) {
  return outcome == trust::AuditOutcome::failed ? scheduler::SampleQueue::Outcome::failed
                                                : scheduler::SampleQueue::Outcome::checked;
}

manifest::Range audited_range(const trust::AuditWanted& wanted, manifest::Range whole) {
  const trust::Part all{.first = whole.first, .count = whole.count};
  const std::uint32_t count =
      wanted.rivals.empty() ? std::min(wanted.samples, wanted.parts) : wanted.parts;
  const std::uint32_t first = std::min(wanted.part, wanted.parts - count);
  const auto from = trust::part_of(all, wanted.parts, first);
  const auto to = trust::part_of(all, wanted.parts, first + count - 1);
  return {.first = from.first, .count = to.first + to.count - from.first};
}

}  // namespace weft::jobs
