// The likelihood that a fingerprint comes from smaller weights of a known format, and not from the
// promised weights. It detects differences that no tolerance detects, because they are no larger
// than the noise of the arithmetic.
//
// Weights that were rounded to a format move a hidden state by d = smaller - promised, which an
// auditor can compute itself: it reads the same tokens once with the promised weights and once with
// the promised weights rounded by the format's rule. For a claim c, let r = c - promised, with each
// number divided by |promised| + least as in fingerprint.h. An honest claim is r = noise, a claim
// of smaller weights is r = d + noise. The noise comes from the arithmetic of another machine and
// does not depend on d. For n entries of noise with the standard deviation s
//
//   ln(P(c | smaller) / P(c | promised)) = (|r|^2 - |r - d|^2) / (2 s^2)
//
// s is not known: it is computed from the claim itself, as the root mean square of the better
// explanation, min(|r|^2, |r - d|^2) / n, and not below the fingerprint's own rounding.
//
// The ratios of fingerprints add up. The sum for honest claims ever reaches ratio_least with
// probability at most exp(-ratio_least), over any number of fingerprints (Ville's inequality, for a
// known s). With noise k times as large as d, a fingerprint of 64 entries adds m = 32 / k^2 on
// average, with a standard deviation of sqrt(2 m). 4,096 tokens (128 fingerprints) add 4096 / k^2.
// Up to k = 11 this is at least ratio_least and 2.33 standard deviations, so that 99 of 100 claims
// of smaller weights are found.
#pragma once

#include <span>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::proof {

// The sum of ratios that at most one honest worker in a million reaches.
inline constexpr double ratio_least = 13.8;

// The ratio of one fingerprint: above 0 if it fits the smaller weights better than the promised
// ones. It is 0 if the rows of both weights are equal, because nothing tells them apart. Fails with
// invalid_argument as fingerprint_distance() does, and for rows of different lengths.
[[nodiscard]] Result<double> smaller_weights_ratio(ByteSpan claimed,
                                                   std::span<const float> promised,
                                                   std::span<const float> smaller);

}  // namespace weft::proof
