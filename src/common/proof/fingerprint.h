// Fingerprints of a language model's session: of the final hidden state (behind the last layer,
// before the norm) of every 32nd position, and of the last, the entries that are largest in
// magnitude. A verifier with the model and the text checks them with one prefill, which costs a
// small part of generating. After TOPLOC (J. Ong et al., arXiv 2501.16007): same size and interval,
// but entries of one position as they are instead of a polynomial through those of 32, so that
// nothing has to be interpolated and any prefix of a session can be checked.
//
// Bytes of one fingerprint: u8 count | i8 exponent | count * (u16 index | f16 value * 2^-exponent),
// little-endian, ascending indices; at most 2 + 64 * 4 = 258. The exponent brings the largest value
// into [2^14, 2^15), so that rounding to f16 costs 2^-12 of a value whatever the model's scale is.
//
// How far two honest engines are apart. The error of a fingerprint is the median over its entries
// of
//   |claimed - own| / (|own| + least),  least = the smallest magnitude claimed, at least a quarter
//   of the median one,
// which neither one flipped rounding nor one outlier dimension moves. What moves it:
//   f16 in the fingerprint           2^-12                                      0.02 %
//   products summed in another order about sqrt(n) 2^-24 a product, n <= 2^14   0.001 %, some ten
//   products deep: 0.01 % keys and values rounded to f16   2^-12 each where both keep f16, and
//   those that are on the edge of
//                                    rounding fall differently: below 2^-12 of the sum   0.02 %
//   weights of 16 bits multiplied as f16 on subgroup matrices: 2^-12 an element, averaged over n
//   0.02 %
// Added up below 0.1 % where products are f32 (measured: 0.014 %, the fingerprint's own rounding,
// between the CPU, lavapipe and SwiftShader). The errors of layers are independent and add up as
// the square root of their number, so that f16 matrices in 40 layers, some seven products each,
// come to 0.02 % sqrt(280) = 0.35 %. `FingerprintTolerance{}` allows 0.5 %, `f32_tolerance`, for
// auditors and workers that both multiply in f32, 0.15 %. Sessions with activations in int8 or
// caches in q8_0 are only comparable with such, within `rounded_tolerance` (measured: 0.8 % and 0.1
// %).
//
// What weights of fewer bits do: rounding moves a Q8_0 weight by 1 / (127 sqrt(12)) of its block's
// largest, about 0.5 % of a typical weight, and a Q4_0 weight by sixteen times that, 8 %; errors of
// n weights add up in a sum as its products do, so that the relative error stays. Measured on the
// small models, at every single position: Q8_0 for F16 0.32 % to 0.39 %, Q4_K_M for F16 up to 6 %,
// Q4_0 for F16 7 %. So Q4_0 is told by each tolerance and Q8_0 by f32_tolerance alone.
// fingerprint_test.cpp in engine/llm/gpu holds real engines to this.
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
  double missing_max = 0.2;  // The share of the own largest entries that the claim lacks.
};
inline constexpr FingerprintTolerance f32_tolerance{.error_max = 0.0015, .missing_max = 0.2};
inline constexpr FingerprintTolerance rounded_tolerance{.error_max = 0.03, .missing_max = 0.4};

struct FingerprintDistance {
  // The error defined at the top of this file; 1 is the error of two unrelated vectors.
  double error = 0;
  // The share of missing entries; entries close to the smallest one kept may be missing by chance.
  double missing = 0;
};
// Fails with invalid_argument if the bytes are not a fingerprint of that many numbers: the count,
// the order, the indices or the values are impossible.
[[nodiscard]] Result<FingerprintDistance> fingerprint_distance(ByteSpan claimed,
                                                               std::span<const float> hidden);

// Compares a session's fingerprints with the hidden states of all its positions,
// [position][embedding], from a prefill over prompt and answer. The session is accepted if every
// fingerprint is within the tolerance.
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
