// The search for the guilty stage of a chain whose answer was refuted by two roots: the request,
// the findings, and the judgement of a stage. StageSearches runs the search.
//
// A stage is judged by its own commitments alone. Both ends of the line into the stage have signed
// the same roots, and so have both ends of the line out of it. The frames are opened under these
// roots, and an auditor runs the stage's layers over the input rows. Its output must equal the
// frames that the stage handed on, within the tolerance of honest engines. So a later stage is
// never blamed for an error of an earlier stage: an honest stage passes with any input.
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

// Final states, by the ticket of their pass.
using FinalStates = std::map<std::uint32_t, std::vector<float>>;

struct StageOutput {
  std::vector<std::vector<float>> rows{};  // Rows by position.
  FinalStates finals{};
};

struct TraceRequest {
  std::uint32_t id = 0;  // From the numbers of requests; used once.
  std::string model{};
  protocol::serving::Ask ask{};  // The request with its whole answer in `answered`.
  Pipeline pipeline{};
  Prints prints{};
  double error_max = 0;  // The largest distance of honest engines (proof::FingerprintTolerance).
  // Workers that must not audit in this search; they include the members of `pipeline`.
  std::vector<PublicKey> except{};
  std::uint64_t draw = 0;  // Chooses among the possible auditors.
};

// The distance between the output that a stage handed on and the auditor's output for the same
// input: the distance of the farthest row or state that both have. Rows in which the auditor's own
// numbers are not finite are not compared, because they follow from the input and not from the
// stage.
//
// `shaken` is the auditor's output for the input with each number changed by 2^-11 of itself, as an
// honest engine's arithmetic may change it. A member can choose an input whose small differences
// the layers enlarge, so that honest engines disagree. So a row counts only if its error is more
// than shaken_least times the difference between the auditor's two outputs in that row.
inline constexpr double shaken_least = 16;
[[nodiscard]] double stage_error(const StageOutput& claimed, const StageOutput& own,
                                 const StageOutput* shaken = nullptr);
// The rows with each number changed by 2^-11 of itself, up or down.
[[nodiscard]] std::vector<std::vector<float>> shaken(std::vector<std::vector<float>> rows);
// The number of the answer's tokens before the first fingerprint that does not match the final
// state that the last stage committed to; no value if all match. The first stage reports
// fingerprints.
[[nodiscard]] std::optional<std::uint32_t> false_print(const TraceRequest& what,
                                                       const AnswerPlaces& places,
                                                       const FinalStates& committed);

}  // namespace weft::inference
