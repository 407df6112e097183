// Opens the frames that the lines of a chain carried for one answer. Members are asked for the
// frames that they committed to: first on the line out of the first stage, where they are found by
// the answer's sequence, then on the other lines, by the numbers of the frames found. A frame
// counts only under a root that both ends signed.
//
// Not for several threads. Bounds: DeskSettings::trace_bytes_max bytes of frames.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/protocol/hops.h"
#include "common/protocol/serving.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/line_rows.h"
#include "decisions/inference/stage_trace.h"

namespace weft::inference {

class LineOpening {
 public:
  LineOpening(DeskTables& tables, Pipeline pipeline)
      : tables_(tables), pipeline_(std::move(pipeline)) {}

  enum class Step : std::uint8_t { waits, first, others, done };
  [[nodiscard]] Step step() const { return step_; }

  // Begins the next step and asks the members for the frames that it needs. Returns false if there
  // are no frames to ask for, or too many.
  [[nodiscard]] bool ask();
  // True if all members have sent what they were asked for.
  [[nodiscard]] bool is_heard() const { return awaited_.empty(); }
  // Ends the step with the frames that have come. `tokens` are the prompt and the answer.
  void close_step(std::span<const std::int32_t> tokens);

  // Takes in a hop. Returns true if it is a part of a frame that was asked for.
  [[nodiscard]] bool take(ServingId session, const protocol::serving::HopFrame& hop);
  // Call it when a member has sent all its frames of a line. Returns true if it was asked for this
  // line.
  [[nodiscard]] bool reopened(ServingId session, const protocol::serving::Reopened& message);
  // Call it when a member has left. Returns true if it still had to send frames.
  [[nodiscard]] bool left(ServingId session);

  // The results; they are complete when step() is `done`.
  [[nodiscard]] const AnswerPlaces& places() const { return places_; }
  [[nodiscard]] const std::vector<LineFrames>& lines() const { return lines_; }

 private:
  void ask_ends(std::uint32_t line, const std::vector<std::uint32_t>& numbers);

  DeskTables& tables_;
  Pipeline pipeline_;
  Step step_ = Step::waits;
  // Opened frames, by line and frame number.
  std::map<std::uint32_t, std::map<std::uint32_t, ByteVector>> frames_;
  std::uint64_t bytes_ = 0;
  // Pairs of a member and a line that the member has to open.
  std::set<std::pair<ServingId, std::uint32_t>> awaited_;
  std::map<ServingId, protocol::serving::HopJoiner> joiners_;
  AnswerPlaces places_;
  std::vector<LineFrames> lines_;  // Frames of each line, by the sender's index.
};

}  // namespace weft::inference
