#include "decisions/inference/stage_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "common/proof/fingerprint.h"
#include "common/proof/row_distance.h"

namespace weft::inference {

namespace {

double compare(std::span<const float> claimed, std::span<const float> own,
               const std::vector<float>* shaken) {
  if (!std::ranges::all_of(own, [](float value) { return std::isfinite(value); })) return 0;
  // A claim whose distance cannot be computed has an infinite error.
  const double error =
      proof::row_distance(claimed, own).value_or(std::numeric_limits<double>::infinity());
  if (shaken == nullptr) return error;
  const double moved =
      proof::row_distance(*shaken, own).value_or(std::numeric_limits<double>::infinity());
  return error > shaken_least * moved ? error : 0;
}

}  // namespace

double stage_error(const StageOutput& claimed, const StageOutput& own, const StageOutput* shaken) {
  double farthest = 0;
  const std::size_t rows = std::min(claimed.rows.size(), own.rows.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const bool both = shaken != nullptr && row < shaken->rows.size();
    if (shaken != nullptr && !both) break;
    farthest = std::max(
        farthest, compare(claimed.rows[row], own.rows[row], both ? &shaken->rows[row] : nullptr));
  }
  for (const auto& [ticket, state] : own.finals) {
    const auto theirs = claimed.finals.find(ticket);
    if (theirs == claimed.finals.end()) continue;
    const std::vector<float>* moved = nullptr;
    if (shaken != nullptr) {
      const auto found = shaken->finals.find(ticket);
      if (found == shaken->finals.end()) continue;
      moved = &found->second;
    }
    farthest = std::max(farthest, compare(theirs->second, state, moved));
  }
  return farthest;
}

std::vector<std::vector<float>> shaken(std::vector<std::vector<float>> rows) {
  std::uint32_t state = 1;
  for (auto& row : rows) {
    for (float& value : row) {
      state = state * 1664525 + 1013904223;  // A generator of pseudo-random signs.
      value *= (state >> 31) != 0 ? 1 + 0x1p-11F : 1 - 0x1p-11F;
    }
  }
  return rows;
}

std::optional<std::uint32_t> false_print(const TraceRequest& what, const AnswerPlaces& places,
                                         const FinalStates& committed) {
  const auto prompt = static_cast<std::uint32_t>(what.ask.prompt.size());
  for (const auto& [ticket, asked] : places.asked) {
    const auto state = committed.find(ticket);
    if (asked.positions < prompt || state == committed.end()) continue;
    const std::uint32_t position = asked.positions;
    const auto told = what.prints.find(position - prompt);
    if (told == what.prints.end()) continue;
    // The fingerprint and the state must agree, except for the rounding of fingerprints.
    const auto distance = proof::fingerprint_distance(told->second, state->second);
    if (!distance || distance->error > proof::f32_tolerance.error_max ||
        distance->missing > proof::f32_tolerance.missing_max)
      return position - prompt;
  }
  return std::nullopt;
}

}  // namespace weft::inference
