#include "apps/coordinator/ingest/result_bytes.h"

#include "apps/coordinator/ingest/output_types.h"
#include "apps/coordinator/ingest/verifier_runs.h"
#include "common/proof/compare.h"
#include "decisions/trust/audit.h"

namespace weft::coordinator {
namespace {

bool equal(const manifest::Manifest& manifest, std::size_t output, ByteSpan left, ByteSpan right) {
  if (left.size() != right.size()) return false;
  const auto& compare = manifest.verify.compare;
  return compare.exact
             ? !proof::difference_exact(left, right)
             : !proof::difference(left, right, output_types(manifest)[output],
                                  {.absolute = compare.absolute, .relative = compare.relative});
}

}  // namespace

bool same_inside(const manifest::Manifest& manifest, const std::vector<ByteVector>& of_range,
                 manifest::Range range, const std::vector<ByteVector>& of_part,
                 manifest::Range part) {
  if (of_range.size() != of_part.size()) return false;
  for (std::size_t output = 0; output < of_part.size(); ++output) {
    const auto whole = manifest::output_extent(manifest, output, range);
    const auto wanted = manifest::output_extent(manifest, output, part);
    if (of_range[output].size() != whole.size || wanted.offset < whole.offset ||
        wanted.offset + wanted.size > whole.offset + whole.size)
      return false;
    if (!equal(manifest, output,
               ByteSpan(of_range[output]).subspan(wanted.offset - whole.offset, wanted.size),
               of_part[output]))
      return false;
  }
  return true;
}

Result<bool> ResultBytes::same(const jobs::VerifyOrder& order,
                               const std::vector<store::OutputBlob>& outputs, manifest::Range range,
                               const std::vector<ByteVector>& computed) const {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  if (computed.size() != outputs.size()) return false;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    const auto of_task = manifest::output_extent(*order.manifest, output, whole);
    const auto wanted = manifest::output_extent(*order.manifest, output, range);
    WEFT_ASSIGN(const auto claimed,
                blobs_.read(outputs[output].hash, wanted.offset - of_task.offset, wanted.size));
    if (!equal(*order.manifest, output, claimed, computed[output])) return false;
  }
  return true;
}

Result<std::vector<manifest::Range>> ResultBytes::differing(const jobs::VerifyOrder& order) const {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  std::vector<manifest::Range> ranges;
  for (const auto& rival : order.rivals) {
    for (std::uint32_t number = 0; number < order.parts; ++number) {
      const auto part =
          trust::part_of({.first = whole.first, .count = whole.count}, order.parts, number);
      const manifest::Range range{.first = part.first, .count = part.count};
      std::vector<ByteVector> theirs;
      for (std::size_t output = 0; output < rival.size(); ++output) {
        const auto of_task = manifest::output_extent(*order.manifest, output, whole);
        const auto wanted = manifest::output_extent(*order.manifest, output, range);
        WEFT_ASSIGN(auto bytes,
                    blobs_.read(rival[output].hash, wanted.offset - of_task.offset, wanted.size));
        theirs.push_back(std::move(bytes));
      }
      WEFT_ASSIGN(const bool agrees, same(order, order.outputs, range, theirs));
      if (agrees) continue;
      ranges.push_back(range);
      break;
    }
  }
  return ranges;
}

manifest::Range ResultBytes::first_wrong(const jobs::VerifyOrder& order,
                                         const std::vector<manifest::Range>& parts,
                                         manifest::Range range,
                                         const std::vector<ByteVector>& computed) const {
  for (const manifest::Range& part : parts) {
    if (!is_inside(part, range)) continue;
    std::vector<ByteVector> inside;
    for (std::size_t output = 0; output < computed.size(); ++output) {
      const auto whole = manifest::output_extent(*order.manifest, output, range);
      const auto wanted = manifest::output_extent(*order.manifest, output, part);
      if (wanted.offset < whole.offset ||
          wanted.offset - whole.offset + wanted.size > computed[output].size())
        return range;
      const auto bytes =
          ByteSpan(computed[output]).subspan(wanted.offset - whole.offset, wanted.size);
      inside.emplace_back(bytes.begin(), bytes.end());
    }
    const auto agrees = same(order, order.outputs, part, inside);
    if (agrees && !*agrees) return part;
  }
  return range;
}

}  // namespace weft::coordinator
