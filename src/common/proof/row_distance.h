// How far two engines' hidden states of one position are apart, over all of their numbers: what a
// stage of a chain handed on, and what another one computes from the same input.
//
// The mean over all numbers of min(1, |claimed - own| / (|own| + typical)), typical = the median
// magnitude of the own ones. Fingerprints (fingerprint.h) look at the 64 largest numbers, which is
// all that a worker sends of its own accord; here both rows are there whole, and a stage that
// leaves the largest right and changes others is told as well. No single number counts for more
// than its share, so that the few that are a thousand times as large as others (which models have)
// neither hide an error nor make one.
#pragma once

#include <span>

#include "common/base/result.h"

namespace weft::proof {

// invalid_argument: rows of different lengths, of none, or with a number that is not finite.
[[nodiscard]] Result<double> row_distance(std::span<const float> claimed,
                                          std::span<const float> own);

}  // namespace weft::proof
