// Fingerprints of a language model's session: of the final hidden state (behind the last layer, before the norm) of every 32nd
// position, and of the last, the entries that are largest in magnitude. Whoever has the model and the text checks them with one
// prefill, which costs a small part of generating. After TOPLOC (J. Ong et al., arXiv 2501.16007): same size and interval, but
// entries of one position as they are instead of a polynomial through those of 32, so that nothing has to be interpolated
// and any prefix of a session can be checked.
//
// Bytes of one fingerprint: u8 count | i8 exponent | count * (u16 index | f16 value * 2^-exponent), little-endian, ascending
// indices; at most 2 + 64 * 4 = 258. The exponent brings the largest value into [2^14, 2^15), so that rounding to f16 costs
// 2^-12 of a value whatever the model's scale is.
//
// How far two honest engines are apart. The error of a fingerprint is the median over its entries of
//   |claimed - own| / (|own| + least),  least = the smallest magnitude claimed, at least a quarter of the median one,
// which neither one flipped rounding nor one outlier dimension moves. What moves it:
//   f16 in the fingerprint           2^-12                                      0.02 %
//   products summed in another order about sqrt(n) 2^-24 a product, n <= 2^14   0.001 %, some ten products deep: 0.01 %
//   keys and values rounded to f16   2^-12 each where both keep f16, and those that are on the edge of
//                                    rounding fall differently: below 2^-12 of the sum   0.02 %
//   weights of 16 bits multiplied as f16 on subgroup matrices: 2^-12 an element, averaged over n      0.02 %
// Added up below 0.1 %; `error_max` is five times that, since layers pass errors on. Weights of fewer bits move every product by
// their own rounding: Q8_0 by 2^-8 / sqrt(3) of a block's largest, 0.2 % of it and about 0.5 % of a typical weight, Q4_0 sixteen
// times that, 7 to 10 %; errors of n weights add up in the sum as the products do, so that the relative error stays, and each
// layer adds its own. So Q4_0 for F16 (or for Q8_0) is ten and more times beyond the bound. fingerprint_test.cpp in
// engine/llm/gpu holds both to account on real engines. Sessions with activations in int8 or caches in q8_0 are only comparable
// with such, within `rounded_tolerance`, which still tells Q4_0 from F16 and does not tell Q8_0.
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

// Which positions of a session of so many have one, ascending: those with (position + 1) % 32 == 0, and the last.
[[nodiscard]] std::vector<std::uint32_t> fingerprint_positions(std::uint32_t positions);

// Of one hidden state [embedding]. invalid_argument: no numbers, more than 65536, one that is not finite, or all zero.
[[nodiscard]] Result<ByteVector> fingerprint(std::span<const float> hidden);

struct FingerprintTolerance {
  double error_max = 0.005;  // Of one fingerprint.
  double missing_max = 0.2;  // Share of the own largest entries that the claim has not.
};
inline constexpr FingerprintTolerance rounded_tolerance{.error_max = 0.03, .missing_max = 0.4};

struct FingerprintDistance {
  double error = 0;    // As above; 1 is as far as two unrelated vectors.
  double missing = 0;  // Entries on the edge of the largest fall out by themselves.
};
// invalid_argument where the bytes are no fingerprint of so many numbers: count, order, indices or values are impossible.
[[nodiscard]] Result<FingerprintDistance> fingerprint_distance(ByteSpan claimed, std::span<const float> hidden);

// A session's fingerprints against the hidden states of all its positions, [position][embedding], from a prefill over prompt and
// answer. Accepted where every fingerprint is within the tolerance.
struct SessionVerdict {
  bool accepted = false;
  FingerprintDistance farthest;  // The largest of each.
  std::string reason;            // Why not, with the position.
};
[[nodiscard]] SessionVerdict check_fingerprints(std::span<const ByteVector> claimed, std::span<const float> hidden, std::size_t embedding,
                                                const FingerprintTolerance& tolerance = {});

}  // namespace weft::proof
