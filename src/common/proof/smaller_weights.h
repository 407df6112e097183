// The likelihood that a fingerprint comes from smaller weights of a known format, and not from the
// promised weights. It detects differences that no tolerance detects, because the noise of the
// arithmetic is as large as they are.
//
// Weights that were rounded to a format move a hidden state by d = smaller - promised, which an
// auditor can compute itself: it reads the same tokens once with the promised weights and once with
// the promised weights rounded by the format's rule. Of a claim c let r = c - promised, each number
// divided by |promised| + least as in fingerprint.h. An honest claim is r = noise, a claim of
// smaller weights r = d + noise, with noise of another machine's arithmetic, which knows nothing of
// d. For n entries of noise with the deviation s
//
//   ln(P(c | smaller) / P(c | promised)) = (|r|^2 - |r - d|^2) / (2 s^2)
//
// s is not known: it is computed from the claim itself, as the root mean square of the better
// explanation, min(|r|^2, |r - d|^2) / n, and not below the fingerprint's own rounding.
//
// The ratios of fingerprints add up. Honest claims come to ratio_least with probability
// exp(-ratio_least) at most, over all fingerprints that there will ever be (Ville's inequality, for
// a known s). With noise k times as large as d a fingerprint of 64 entries brings m = 32 / k^2 on
// average, with a deviation of sqrt(2 m). 4,096 tokens (128 fingerprints) bring 4096 / k^2, which
// is ratio_least and 2.33 deviations more, so that 99 of 100 are found, up to k = 11.
#pragma once

#include <span>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::proof {

// The ratio that one honest worker in a million reaches.
inline constexpr double ratio_least = 13.8;

// The ratio of one fingerprint: above 0 if it fits the smaller weights better than the promised
// ones. It is 0 if the rows of both weights are equal, because nothing tells them apart. Fails with
// invalid_argument as fingerprint_distance() does, and for rows of different lengths.
[[nodiscard]] Result<double> smaller_weights_ratio(ByteSpan claimed,
                                                   std::span<const float> promised,
                                                   std::span<const float> smaller);

}  // namespace weft::proof
