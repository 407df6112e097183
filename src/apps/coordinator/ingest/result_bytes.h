// Whether results of tasks, whose bytes are stored, are what the verifier computes of their parts.
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

// Whether the outputs of a range have those of a part of it, as the manifest compares them.
[[nodiscard]] bool same_inside(const manifest::Manifest& manifest,
                               const std::vector<ByteVector>& of_range, manifest::Range range,
                               const std::vector<ByteVector>& of_part, manifest::Range part);

class ResultBytes {
 public:
  explicit ResultBytes(const store::Blobs& blobs) : blobs_(blobs) {}

  // Whether the result `outputs` of the order's task has `computed` in the range.
  [[nodiscard]] Result<bool> same(const jobs::VerifyOrder& order,
                                  const std::vector<store::OutputBlob>& outputs,
                                  manifest::Range range,
                                  const std::vector<ByteVector>& computed) const;
  // For each other result a part in which it differs from this one: what is computed there says
  // which of them is wrong.
  [[nodiscard]] Result<std::vector<manifest::Range>> differing(
      const jobs::VerifyOrder& order) const;
  // The first of the parts that were asked for in which the result differs from the run of `range`;
  // where it differs between them, the run.
  [[nodiscard]] manifest::Range first_wrong(const jobs::VerifyOrder& order,
                                            const std::vector<manifest::Range>& parts,
                                            manifest::Range range,
                                            const std::vector<ByteVector>& computed) const;

 private:
  const store::Blobs& blobs_;
};

}  // namespace weft::coordinator
