// Fingerprints of a language model's session. A fingerprint holds the entries of a hidden state
// that are largest in magnitude. The hidden state is that after the last layer, before the norm.
// Every 32nd position has a fingerprint, and the last position. A verifier that has the model and
// the text checks the fingerprints with one prefill, which costs a small part of generating the
// text. The method follows TOPLOC (J. Ong et al., arXiv 2501.16007), with its size and its
// interval. TOPLOC puts a polynomial through the entries of 32 positions; a fingerprint holds the
// entries of one position as they are, so that nothing has to be interpolated and any prefix of a
// session can be checked.
//
// Bytes of one fingerprint: u8 count | i8 exponent | count * (u16 index | f16 value * 2^-exponent),
// little-endian, ascending indices; at most 2 + 64 * 4 = 258. The exponent brings the largest value
// into [2^14, 2^15), so that rounding to f16 costs 2^-12 of a value whatever the model's scale is.
//
// The error of a fingerprint is the median over its entries of
//   |claimed - own| / (|own| + least),
// where `least` is the smallest magnitude claimed, and at least a quarter of the median magnitude.
// Neither one flipped rounding nor one outlier dimension moves the median. The errors of two honest
// engines come from:
// - values in f16 in the fingerprint: 2^-12, or 0.02 %;
// - products summed in another order: about sqrt(n) 2^-24 for each product of n <= 2^14 terms, or
//   0.001 %, and 0.01 % after some ten products in sequence;
// - keys and values rounded to f16: 2^-12 each. If both engines keep f16, only the values on the
//   edge of rounding differ: below 2^-12 of the sum, or 0.02 %;
// - weights of 16 bits multiplied as f16 on subgroup matrices: 2^-12 an element, averaged over n
//   elements, or 0.02 %.
// The sum is below 0.1 % if products are f32. Measured between the CPU, lavapipe and SwiftShader:
// 0.014 %, which is the fingerprint's own rounding. The errors of layers are independent and add up
// as the square root of their number, so that f16 matrices in 40 layers, with some seven products
// each, give 0.02 % sqrt(280) = 0.35 %. `FingerprintTolerance{}` allows 0.5 %. `f32_tolerance`, for
// auditors and workers that both multiply in f32, allows 0.15 %. Sessions with activations in int8
// or caches in q8_0 can only be compared with sessions that have both in the same format, within
// `rounded_tolerance` (measured: 0.8 % and 0.1 %).
//
// Weights of fewer bits give larger errors. Rounding moves a Q8_0 weight by 1 / (127 sqrt(12)) of
// its block's largest, about 0.5 % of a typical weight, and a Q4_0 weight by sixteen times that, 8
// %. The errors of n weights add up in a sum as the products do, so that the relative error stays.
// Measured on the small models, at every single position, against F16: Q8_0 0.32 % to 0.39 %,
// Q4_K_M up to 6 %, Q4_0 7 %. So every tolerance detects Q4_0, and only f32_tolerance detects Q8_0.
// fingerprint_test.cpp in engine/llm/gpu tests real engines against these numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::proof {

inline constexpr std::uint32_t fingerprint_interval = 32;
inline constexpr std::size_t fingerprint_entries_max = 64;
inline constexpr std::size_t fingerprint_bytes_max = 2 + 4 * fingerprint_entries_max;

// The positions that have a fingerprint, in a session of `positions` positions, ascending: those
// with (position + 1) % 32 == 0, and the last one.
[[nodiscard]] std::vector<std::uint32_t> fingerprint_positions(std::uint32_t positions);

// The fingerprint of one hidden state [embedding]. Fails with invalid_argument for no numbers, more
// than 65536 numbers, a number that is not finite, or only zeros.
[[nodiscard]] Result<ByteVector> fingerprint(std::span<const float> hidden);

// Returns `width` numbers: those that the fingerprint contains, and 0 in all other places.
// fingerprint_distance() takes them if the other side also sends a fingerprint; the distance then
// includes the rounding of that fingerprint too. Fails with invalid_argument if the bytes are not a
// fingerprint of `width` numbers.
[[nodiscard]] Result<std::vector<float>> fingerprint_values(ByteSpan bytes, std::size_t width);

struct FingerprintTolerance {
  double error_max = 0.005;  // Largest accepted error of one fingerprint.
  double missing_max = 0.2;  // The largest accepted share of missing entries (FingerprintDistance).
};
inline constexpr FingerprintTolerance f32_tolerance{.error_max = 0.0015, .missing_max = 0.2};
inline constexpr FingerprintTolerance rounded_tolerance{.error_max = 0.03, .missing_max = 0.4};

struct FingerprintDistance {
  // The error defined at the top of this file; 1 is the error of two unrelated vectors.
  double error = 0;
  // The share of missing entries; entries close to the smallest one kept may be missing by chance.
  double missing = 0;
};
// Fails with invalid_argument if the bytes are not a fingerprint of hidden.size() numbers: the
// count, the order, the indices or the values are impossible.
[[nodiscard]] Result<FingerprintDistance> fingerprint_distance(ByteSpan claimed,
                                                               std::span<const float> hidden);

// The result of check_fingerprints(), which compares a session's fingerprints with the hidden
// states [position][embedding] of all its positions, from a prefill over prompt and answer. The
// session is accepted if every fingerprint is within the tolerance.
struct SessionVerdict {
  bool accepted = false;
  FingerprintDistance farthest;  // The largest error and the largest missing share.
  std::string reason;            // The reason for a refusal, with the position.
};
[[nodiscard]] SessionVerdict check_fingerprints(std::span<const ByteVector> claimed,
                                                std::span<const float> hidden,
                                                std::size_t embedding,
                                                const FingerprintTolerance& tolerance = {});

}  // namespace weft::proof
