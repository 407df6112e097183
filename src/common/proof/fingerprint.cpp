#include "common/proof/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "common/base/format.h"
#include "common/proof/half.h"

namespace weft::proof {
namespace {

struct Entry {
  std::uint16_t index;
  double value;
};

// The indices of the `count` largest magnitudes, ascending; of equal magnitudes the lower index.
std::vector<std::uint32_t> largest(std::span<const float> values, std::size_t count) {
  std::vector<std::uint32_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), 0U);
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    const float left = std::abs(values[a]);
    const float right = std::abs(values[b]);
    return left > right || (left == right && a < b);
  };
  std::ranges::nth_element(indices, indices.begin() + static_cast<std::ptrdiff_t>(count - 1),
                           larger);
  indices.resize(count);
  std::ranges::sort(indices);
  return indices;
}

Result<> check_hidden(std::span<const float> hidden) {
  constexpr std::size_t width_max = std::size_t{1} << 16;
  if (hidden.empty() || hidden.size() > width_max)
    return fail(ErrorCode::invalid_argument,
                "A hidden state of {} numbers cannot have a fingerprint; it must have 1 to {}.",
                hidden.size(), width_max);
  const auto odd = std::ranges::find_if(hidden, [](float value) { return !std::isfinite(value); });
  if (odd != hidden.end())
    return fail(ErrorCode::invalid_argument,
                "Element {} of the hidden state is {}, which is not a finite number.",
                odd - hidden.begin(), *odd);
  if (std::ranges::all_of(hidden, [](float value) { return value == 0; }))
    return fail(ErrorCode::invalid_argument,
                "All numbers of the hidden state are 0, so it has no fingerprint.");
  return {};
}

Result<std::vector<Entry>> read(ByteSpan bytes, std::size_t width) {
  const std::size_t count = bytes.empty() ? 0 : bytes[0];
  if (count == 0 || count != std::min(width, fingerprint_entries_max) ||
      bytes.size() != 2 + 4 * count)
    return fail(ErrorCode::invalid_argument,
                "{} bytes are not a valid fingerprint of a hidden state of {} numbers.",
                bytes.size(), width);
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
  const int exponent = static_cast<std::int8_t>(bytes[1]);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* at = bytes.data() + 2 + 4 * i;
    const auto index = static_cast<std::uint16_t>(at[0] | at[1] << 8);
    const double value = from_half(static_cast<std::uint16_t>(at[2] | at[3] << 8));
    if (index >= width || (i > 0 && index <= entries.back().index) || !std::isfinite(value))
      return fail(ErrorCode::invalid_argument,
                  "Entry {} of the fingerprint has the index {} and the value {}: indices must "
                  "grow and be below {}, values be finite.",
                  i, index, value, width);
    entries.push_back({.index = index, .value = std::ldexp(value, exponent)});
  }
  return entries;
}

}  // namespace

std::vector<std::uint32_t> fingerprint_positions(std::uint32_t positions) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t position = fingerprint_interval - 1; position < positions;
       position += fingerprint_interval)
    out.push_back(position);
  if (positions > 0 && positions % fingerprint_interval != 0) out.push_back(positions - 1);
  return out;
}

Result<ByteVector> fingerprint(std::span<const float> hidden) {
  WEFT_OK(check_hidden(hidden));
  const std::vector<std::uint32_t> indices =
      largest(hidden, std::min(hidden.size(), fingerprint_entries_max));
  float top = 0;
  for (const std::uint32_t index : indices) top = std::max(top, std::abs(hidden[index]));
  // Brings the largest value into [2^14, 2^15). Floats that no i8 exponent can bring there are
  // practically zero or do not occur.
  const int exponent = std::clamp(std::ilogb(top) - 14, -128, 127);
  ByteVector bytes = {static_cast<std::uint8_t>(indices.size()),
                      static_cast<std::uint8_t>(static_cast<std::int8_t>(exponent))};
  for (const std::uint32_t index : indices) {
    append_le(bytes, static_cast<std::uint16_t>(index));
    append_le(bytes, to_half(std::ldexp(hidden[index], -exponent)));
  }
  return bytes;
}

Result<std::vector<float>> fingerprint_values(ByteSpan bytes, std::size_t width) {
  WEFT_ASSIGN(const std::vector<Entry> entries, read(bytes, width));
  std::vector<float> values(width);
  for (const Entry& entry : entries) values[entry.index] = static_cast<float>(entry.value);
  return values;
}

Result<FingerprintDistance> fingerprint_distance(ByteSpan claimed, std::span<const float> hidden) {
  WEFT_OK(check_hidden(hidden));
  WEFT_ASSIGN(const std::vector<Entry> entries, read(claimed, hidden.size()));
  double least = std::abs(entries.front().value);
  for (const Entry& entry : entries) least = std::min(least, std::abs(entry.value));
  // If all entries are claimed (a narrow model), the smallest may be next to zero: the error is
  // then measured by the typical magnitude.
  std::vector<double> magnitudes;
  for (const Entry& entry : entries) magnitudes.push_back(std::abs(entry.value));
  const auto middle = static_cast<std::ptrdiff_t>(entries.size() / 2);
  std::ranges::nth_element(magnitudes, magnitudes.begin() + middle);
  const double scale = std::max(least, magnitudes[static_cast<std::size_t>(middle)] / 4);
  std::vector<double> errors;
  for (const Entry& entry : entries) {
    const double own = hidden[entry.index];
    const double whole = std::abs(own) + scale;
    errors.push_back(whole > 0 ? std::abs(entry.value - own) / whole : 0);
  }
  std::ranges::nth_element(errors, errors.begin() + middle);
  std::size_t missing = 0;
  for (const std::uint32_t index : largest(hidden, entries.size()))
    missing += std::ranges::contains(entries, index, &Entry::index) ? 0 : 1;
  return FingerprintDistance{
      .error = errors[static_cast<std::size_t>(middle)],
      .missing = static_cast<double>(missing) / static_cast<double>(entries.size())};
}

SessionVerdict check_fingerprints(std::span<const ByteVector> claimed,
                                  std::span<const float> hidden, std::size_t embedding,
                                  const FingerprintTolerance& tolerance) {
  SessionVerdict verdict;
  if (embedding == 0 || hidden.empty() || hidden.size() % embedding != 0) {
    verdict.reason = weft::format("{} numbers cannot be divided into hidden states of {} numbers.",
                                  hidden.size(), embedding);
    return verdict;
  }
  const std::vector<std::uint32_t> positions =
      fingerprint_positions(static_cast<std::uint32_t>(hidden.size() / embedding));
  if (claimed.size() != positions.size()) {
    verdict.reason = weft::format("There are {} fingerprints for {} positions, which need {}.",
                                  claimed.size(), hidden.size() / embedding, positions.size());
    return verdict;
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto distance =
        fingerprint_distance(claimed[i], hidden.subspan(positions[i] * embedding, embedding));
    if (!distance) {
      verdict.reason = weft::format("Position {}: {}", positions[i], distance.error().message);
      return verdict;
    }
    verdict.farthest.error = std::max(verdict.farthest.error, distance->error);
    verdict.farthest.missing = std::max(verdict.farthest.missing, distance->missing);
    if (verdict.reason.empty() &&
        (distance->error > tolerance.error_max || distance->missing > tolerance.missing_max)) {
      verdict.reason = weft::format(
          "At position {} the largest entries differ by {:.2g}, and {:.0f} % of them are missing "
          "(at most {:.2g} and {:.0f} % are allowed).",
          positions[i], distance->error, distance->missing * 100, tolerance.error_max,
          tolerance.missing_max * 100);
    }
  }
  verdict.accepted = verdict.reason.empty();
  return verdict;
}

}  // namespace weft::proof
