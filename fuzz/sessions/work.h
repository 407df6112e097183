// The jobs that clients submit, and their right results: element `i` of an output is `i`, and every
// element of a product of matrices of ones is k. The coordinator's own verifier computes equal
// results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/ingest/verifier.h"
#include "common/base/bytes.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"
#include "fuzz/sessions/random.h"

namespace weft::sessions {

// A client's manifest, with a budget that may be too small. `blobs` are the blobs of 64 bytes that
// it may name as data.
[[nodiscard]] std::string make_manifest(Random& random, const std::vector<Hash>& blobs);
// A manifest that honest workers finish at once.
[[nodiscard]] std::string plain_manifest(std::uint32_t tasks, std::uint32_t replicas);

[[nodiscard]] ByteVector right_bytes(const manifest::Manifest& manifest, std::size_t output,
                                     manifest::Range range);
[[nodiscard]] std::vector<ByteVector> right_outputs(const manifest::Manifest& manifest,
                                                    manifest::Range range);

[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_runner();

}  // namespace weft::sessions
