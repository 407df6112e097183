#include "apps/coordinator/ingest/paid_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/manifest/split.h"
#include "common/proof/merkle.h"

namespace weft::coordinator {

Result<jobs::Checked> PaidCheck::check(const jobs::VerifyOrder& order, VerifiedJobs::Known& job) {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  jobs::Checked checked{.outcome = trust::AuditOutcome::agrees};
  std::vector<ByteVector> right;
  for (std::size_t output = 0; output < order.outputs.size(); ++output)
    right.emplace_back(manifest::output_extent(*order.manifest, output, whole).size);
  for (const manifest::Range& range : order.ranges) {
    WEFT_ASSIGN(const auto ran, runs_.run(job, range));
    WEFT_ASSIGN(const bool agrees, bytes_.same(order, order.outputs, range, ran.outputs));
    if (!agrees && !checked.wrong) {
      SecondLook::Opinion found = look_.at(order, job, range, ran.outputs);
      if (found.unsteady) return unsteady(std::move(found.reason));
      if (found.late) return fail(ErrorCode::deadline_exceeded, "{}", found.reason);
      checked.devices = found.devices;
      checked.wrong = range;
    }
    if (ran.outputs.size() != right.size())
      return fail(ErrorCode::internal, "The verifier computes {} outputs, not {}.",
                  ran.outputs.size(), right.size());
    for (std::size_t output = 0; output < right.size(); ++output) {
      const auto of_task = manifest::output_extent(*order.manifest, output, whole);
      const auto part = manifest::output_extent(*order.manifest, output, range);
      if (ran.outputs[output].size() != part.size)
        return fail(ErrorCode::internal, "The verifier computes {} bytes of output {}, not {}.",
                    ran.outputs[output].size(), output, part.size);
      std::ranges::copy(
          ran.outputs[output],
          right[output].begin() + static_cast<std::ptrdiff_t>(part.offset - of_task.offset));
    }
  }
  if (!checked.wrong) return checked;
  checked.outcome = trust::AuditOutcome::differs;
  WEFT_ASSIGN(checked.right, stored(right));
  return checked;
}

Result<jobs::Recomputed> PaidCheck::stored(const std::vector<ByteVector>& right) {
  const std::vector<ByteSpan> spans(right.begin(), right.end());
  WEFT_ASSIGN(const auto hashes, blobs_.add_all(spans));
  jobs::Recomputed made;
  std::vector<Hash> roots;
  for (std::size_t output = 0; output < right.size(); ++output) {
    made.outputs.push_back({.hash = hashes[output], .bytes = right[output].size()});
    roots.push_back(proof::output_root(right[output]));
  }
  made.root = proof::root_of_roots(roots);
  return made;
}

}  // namespace weft::coordinator
