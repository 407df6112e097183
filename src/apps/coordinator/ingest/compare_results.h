// Whether two results of one task agree within its job's tolerance.
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

// What differs by more than verify.compare allows, in one sentence; nothing where they agree. Reads
// all of both: off the core's thread.
[[nodiscard]] std::optional<std::string> difference(const store::Blobs& blobs,
                                                    const manifest::Manifest& manifest,
                                                    std::span<const store::OutputBlob> a,
                                                    std::span<const store::OutputBlob> b);

}  // namespace weft::coordinator
