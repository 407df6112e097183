#include "apps/coordinator/ingest/compare_results.h"

#include "apps/coordinator/ingest/output_types.h"
#include "common/proof/compare.h"

namespace weft::coordinator {

std::optional<std::string> difference(const store::Blobs& blobs, const manifest::Manifest& manifest,
                                      std::span<const store::OutputBlob> a,
                                      std::span<const store::OutputBlob> b) {
  if (a.size() != b.size()) return "the results have different numbers of outputs";
  const auto& compare = manifest.verify.compare;
  const auto types = output_types(manifest);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].hash == b[i].hash) continue;
    const auto left = blobs.read(a[i].hash);
    const auto right = blobs.read(b[i].hash);
    if (!left || !right) return "the bytes of one of the results are no longer stored";
    const auto type = i < types.size() ? types[i] : proof::NumberType::i32;
    if (auto differs = proof::difference(
            *left, *right, type, {.absolute = compare.absolute, .relative = compare.relative}))
      return differs;
  }
  return std::nullopt;
}

}  // namespace weft::coordinator
