#include "decisions/inference/stage_trace.h"

#include <algorithm>
#include <limits>

#include "common/proof/fingerprint.h"
#include "common/proof/row_distance.h"

namespace weft::inference {

namespace {

// What cannot be compared (numbers that are not finite on one side) is as far as can be.
void compare(std::optional<double>& farthest, std::span<const float> claimed,
             std::span<const float> own) {
  const double far =
      proof::row_distance(claimed, own).value_or(std::numeric_limits<double>::infinity());
  farthest = std::max(farthest.value_or(0), far);
}

}  // namespace

std::optional<double> rows_error(std::span<const std::vector<float>> claimed,
                                 std::span<const std::vector<float>> own) {
  std::optional<double> farthest;
  const std::size_t rows = std::min(claimed.size(), own.size());
  for (std::size_t row = 0; row < rows; ++row) compare(farthest, claimed[row], own[row]);
  return farthest;
}

std::optional<double> finals_error(const FinalStates& claimed, const FinalStates& own) {
  std::optional<double> farthest;
  for (const auto& [ticket, state] : own) {
    if (const auto theirs = claimed.find(ticket); theirs != claimed.end())
      compare(farthest, theirs->second, state);
  }
  return farthest;
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
    // The same numbers, but for the fingerprint's own rounding.
    const auto distance = proof::fingerprint_distance(told->second, state->second);
    if (!distance || distance->error > proof::f32_tolerance.error_max ||
        distance->missing > proof::f32_tolerance.missing_max)
      return position - prompt;
  }
  return std::nullopt;
}

}  // namespace weft::inference
