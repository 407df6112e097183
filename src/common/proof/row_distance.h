// The distance between complete hidden states of one position: those that a stage of a chain handed
// on, and those that another engine computes from the same input.
//
// The distance is the mean over all numbers of min(1, |claimed - own| / (|own| + typical)), typical
// = the median magnitude of the own numbers. Fingerprints (fingerprint.h), which a worker sends by
// itself, contain only the 64 largest numbers. Complete hidden states also reveal a stage that
// leaves the largest numbers right and changes others. No single number counts for more than its
// share, so that the few numbers of a model that are a thousand times as large as the others
// neither hide an error nor cause one.
#pragma once

#include <span>

#include "common/base/result.h"

namespace weft::proof {

// Fails with invalid_argument for rows of different lengths, empty rows, or a number that is not
// finite.
[[nodiscard]] Result<double> row_distance(std::span<const float> claimed,
                                          std::span<const float> own);

}  // namespace weft::proof
