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
//   ln(P(c | smaller) / P(c | promised)) = (|r|^2 - |r - d|^2) / (2 s^2)      s^2 = |r|^2 / n
//
// s is not known, and is computed from the claim: it is the deviation that an honest claim has. For
// each r with a direction that is independent of d, the mean of exp(ratio) is then 1 at most: with
// q = |d| / |r| and the cosine u between the two, the ratio is n (q u - q^2 / 2), and the mean of
// exp(n q u) over directions is at most exp(n q^2 / 2). s is not below the fingerprint's own
// rounding, which makes ratios smaller, and so does not raise that mean. Entries whose |r| is more
// than four times the median one do not count, so that a worker gains little by spoiling some of
// them: it knows only c, not d, and cannot take d out of r.
//
// The ratios of fingerprints are added up as S = max(0, S + ratio), so that a long honest past is
// no credit for later cheating. For each fingerprint at which a sum can begin, an honest sum ever
// reaches h with a probability of e^-h at most (Ville's inequality). A million fingerprints of a
// worker therefore raise a false alarm with a probability of 10^6 e^-27.64 = 1e-6 at most.
//
// With noise k times as large as d, a fingerprint of n = 64 entries by smaller weights adds m = 32
// / (1 + k^2) on average, with a standard deviation of 8 k / (1 + k^2). Without noise the sum
// reaches h at the first fingerprint of 64 entries, and at the second one for 28 entries or more
// that all readings share. 4,096 tokens (128 fingerprints) add (4096 - 2.33 * 91 k) / (1 + k^2) or
// more in 99 of 100 cases, which is h up to k = 8; with the fewer entries that all readings share
// it is h up to k = 7.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::proof {

// The sum of ratios that shows smaller weights (h of the comment above).
inline constexpr double ratio_least = 27.64;

// The format whose rounding audits look for, as protocol::serving::Load::beside names it.
inline constexpr std::string_view smaller_format = "q8_0";

// The ratio of one fingerprint: above 0 if it fits the smaller weights better than the promised
// ones. It is 0 if the two weights' states differ by hardly more than the rounding of fingerprints,
// because nothing tells the weights apart then. Fails with invalid_argument as
// fingerprint_distance() does, and for rows of different lengths.
[[nodiscard]] Result<double> smaller_weights_ratio(ByteSpan claimed,
                                                   std::span<const float> promised,
                                                   std::span<const float> smaller);

// The same for two readings that are known by their fingerprints alone. Only the entries that all
// three fingerprints contain count, and the ratio is 0 if these are fewer than half. Fails with
// invalid_argument if one of them is not a fingerprint of `width` numbers.
[[nodiscard]] Result<double> smaller_weights_ratio(ByteSpan claimed, ByteSpan promised,
                                                   ByteSpan smaller, std::size_t width);

// A sum of ratios after some more fingerprints, in order, and the highest value on the way. The sum
// is at most ratio_least, so that it falls below it soon after a false alarm.
struct RatioSum {
  double sum = 0;
  double highest = 0;
};
[[nodiscard]] RatioSum add_ratios(double sum, std::span<const double> ratios);

}  // namespace weft::proof
