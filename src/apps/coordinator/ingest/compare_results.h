// Compares two results of one task within the tolerance of its job.
//
// Threading: any.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/manifest/manifest.h"
#include "common/records/records.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// The first difference that verify.compare does not allow, in one sentence; empty if the results
// agree. Reads both results completely, so it must not run on the core's thread.
[[nodiscard]] std::optional<std::string> difference(const store::Blobs& blobs,
                                                    const manifest::Manifest& manifest,
                                                    std::span<const store::OutputBlob> a,
                                                    std::span<const store::OutputBlob> b);

}  // namespace weft::coordinator
