// Which stage of a chain an answer that two roots refuted is to be blamed on: what is asked, what
// is found, and the desk's state of a search that is under way (desk_traces.cpp).
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
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/number_id.h"
#include "common/proof/frame_block.h"
#include "common/protocol/hops.h"
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

// Private to the desk.
struct StageTrace {
  TraceRequest what;
  Instant since{};  // That it waits for what it waits for now.
  // First the line out of the first stage is opened, by sequence; then the others, by number.
  enum class Opening : std::uint8_t { waits, first, others, done } opening = Opening::waits;
  // Frames under roots of both ends, by line and number; what is still to be heard of, and parts of
  // frames on their way.
  std::map<std::uint32_t, std::map<std::uint32_t, ByteVector>> frames{};
  std::uint64_t bytes = 0;
  std::set<std::pair<std::uint64_t, std::uint32_t>> awaited{};
  std::map<std::uint64_t, protocol::serving::HopJoiner> joiners{};
  std::vector<LineFrames> lines{};  // By the sender's number.
  AnswerPlaces places{};
  // The auditor that searches now, the stage that it runs, and what came out of it.
  std::uint64_t worker = 0;  // 0: none.
  PublicKey auditor;
  std::uint32_t stage = 0;
  std::uint32_t shard = 0;
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  protocol::serving::HopJoiner joiner{};
  StageRows rows{};        // The stage's that is run.
  StageOutput own{};       // What came out so far;
  StageOutput unshaken{};  // before, where the stage is run a second time (shaken()).
  bool shakes = false;
  std::vector<PublicKey> asked{};
  TraceEnd end{};
};

// How far what a stage handed on is from what an auditor makes of the same input: the farthest row
// or state of those that both have. Where the auditor's own numbers are not finite there is nothing
// to compare: what came in made them so.
//
// `shaken`: what the auditor makes of the input with each number off by 2^-11, as an honest
// engine's arithmetic may have it. An input can be chosen so that the layers blow up such
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
