// Compares stored results of tasks with the outputs that the verifier computes of their parts.
//
// Threading: any. Errors are those of the blob store.
#pragma once

#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"
#include "decisions/jobs/world.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// True if the outputs of `range`, within `part`, agree with the outputs of `part` as the manifest
// compares them.
[[nodiscard]] bool same_inside(const manifest::Manifest& manifest,
                               const std::vector<ByteVector>& of_range, manifest::Range range,
                               const std::vector<ByteVector>& of_part, manifest::Range part);

class ResultBytes {
 public:
  explicit ResultBytes(const store::Blobs& blobs) : blobs_(blobs) {}

  // True if the result `outputs` of the order's task agrees with `computed` in the range.
  [[nodiscard]] Result<bool> same(const jobs::VerifyOrder& order,
                                  const std::vector<store::OutputBlob>& outputs,
                                  manifest::Range range,
                                  const std::vector<ByteVector>& computed) const;
  // Returns, for each rival result, one part in which it differs from the order's result. A run of
  // that part shows which of the two results is wrong.
  [[nodiscard]] Result<std::vector<manifest::Range>> differing(
      const jobs::VerifyOrder& order) const;
  // Returns the first of `parts` in which the result differs from the computed run of `range`, or
  // `range` itself if the difference lies between the parts.
  [[nodiscard]] manifest::Range first_wrong(const jobs::VerifyOrder& order,
                                            const std::vector<manifest::Range>& parts,
                                            manifest::Range range,
                                            const std::vector<ByteVector>& computed) const;

 private:
  const store::Blobs& blobs_;
};

}  // namespace weft::coordinator
