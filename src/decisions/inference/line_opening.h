// Opening what the lines of a chain carried for one answer: members are asked for the frames that
// they committed to, first the line out of the first stage by the answer's sequence, then the
// others by the numbers of its frames. What comes in counts only under a root that both ends
// signed.
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

  // Goes to the next step and asks the members for what it needs. False if there is nothing to ask
  // for, or too much.
  [[nodiscard]] bool ask();
  // Whether members still owe what was asked for.
  [[nodiscard]] bool is_heard() const { return awaited_.empty(); }
  // The step is over, with what has come. `tokens`: the answer's, with its prompt.
  void close_step(std::span<const std::int32_t> tokens);

  // True if the hop is a part of a frame that was asked for.
  [[nodiscard]] bool take(ServingId session, const protocol::serving::HopFrame& hop);
  // True if that member owed this line.
  [[nodiscard]] bool reopened(ServingId session, const protocol::serving::Reopened& message);
  // True if it owed something.
  [[nodiscard]] bool left(ServingId session);

  // Once the step is `done`.
  [[nodiscard]] const AnswerPlaces& places() const { return places_; }
  [[nodiscard]] const std::vector<LineFrames>& lines() const { return lines_; }

 private:
  void ask_ends(std::uint32_t line, const std::vector<std::uint32_t>& numbers);

  DeskTables& tables_;
  Pipeline pipeline_;
  Step step_ = Step::waits;
  std::map<std::uint32_t, std::map<std::uint32_t, ByteVector>> frames_;  // By line and number.
  std::uint64_t bytes_ = 0;
  std::set<std::pair<ServingId, std::uint32_t>> awaited_;  // Members and lines.
  std::map<ServingId, protocol::serving::HopJoiner> joiners_;
  AnswerPlaces places_;
  std::vector<LineFrames> lines_;  // By the sender's number.
};

}  // namespace weft::inference
