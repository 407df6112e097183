// Which stage of a chain an answer that two roots refuted is to be blamed on: what is asked, what
// is found and how a stage is judged. The search itself is StageSearches.
//
// A stage is judged by its own word alone. Of the line into it and the line out of it both ends
// have signed the same roots; the frames are opened under these, an auditor runs the stage's layers
// over the very rows that came in, and what comes out must be what the stage handed on, within the
// tolerance of honest engines. So what an earlier stage did, however it chose its errors, is never
// laid at a later one's door: an honest stage passes whatever it was given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer.h"
#include "decisions/inference/line_rows.h"

namespace weft::inference {

using FinalStates = std::map<std::uint32_t, std::vector<float>>;  // By ticket.

struct StageOutput {
  std::vector<std::vector<float>> rows{};  // By position.
  FinalStates finals{};
};

struct TraceRequest {
  std::uint32_t id = 0;  // One of the numbers of requests, used once.
  std::string model{};
  protocol::serving::Ask ask{};  // With all of `answered`.
  Pipeline pipeline{};
  Prints prints{};
  double error_max = 0;             // Distance of honest engines (proof::FingerprintTolerance).
  std::vector<PublicKey> except{};  // Workers that may not search; its members among them.
  std::uint64_t draw = 0;           // Chooses among those who may.
};

// How far what a stage handed on is from what an auditor makes of the same input: the farthest row
// or state of those that both have. Where the auditor's own numbers are not finite there is nothing
// to compare: what came in made them so.
//
// `shaken`: what the auditor makes of the input with each number off by 2^-11, as an honest
// engine's arithmetic may have it. An input can be chosen so that the layers enlarge such
// differences, and that honest engines do not agree: a row counts only where it is off by
// shaken_least times as much as that changes it.
inline constexpr double shaken_least = 16;
[[nodiscard]] double stage_error(const StageOutput& claimed, const StageOutput& own,
                                 const StageOutput* shaken = nullptr);
// The rows, each number off by 2^-11 to one side or the other.
[[nodiscard]] std::vector<std::vector<float>> shaken(std::vector<std::vector<float>> rows);
// Tokens of the answer before a print that is not the final state that the last stage committed to;
// nothing where all are. The first stage tells of prints.
[[nodiscard]] std::optional<std::uint32_t> false_print(const TraceRequest& what,
                                                       const AnswerPlaces& places,
                                                       const FinalStates& committed);

}  // namespace weft::inference
