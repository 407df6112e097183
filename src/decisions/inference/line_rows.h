// Reads the hidden states that the lines of a chain carried for one answer from the frames. A stage
// hands each frame on under its number with its own rows, so that frames of equal number belong
// together on all lines.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/proof/activations.h"

namespace weft::inference {

// The frames of one line by their numbers.
using LineFrames = std::map<std::uint32_t, proof::Activations>;
[[nodiscard]] LineFrames read_frames(const std::map<std::uint32_t, ByteVector>& frames);

// The places of an answer on a line: the frame and the row of each position, and the passes that
// asked for the final state.
struct AnswerPlaces {
  struct Row {
    std::uint32_t number = 0;
    std::uint32_t row = 0;
  };
  struct Asked {
    std::uint32_t number = 0;
    std::uint32_t positions = 0;  // The number of positions before the state.
  };
  std::vector<Row> rows{};                 // The row of each position.
  std::map<std::uint32_t, Asked> asked{};  // Passes that asked for the final state, by ticket.
};
// Finds the rows of the answer whose prompt and tokens are `tokens`, in all frames of its sequence
// on the line out of the first stage. If a sequence went back and read positions again, the later
// rows replace the earlier ones. If a sequence has several answers, the one with these tokens
// counts. Positions after a gap are missing.
[[nodiscard]] AnswerPlaces find_answer(const LineFrames& frames,
                                       std::span<const std::int32_t> tokens);

// The rows of a stage's frames: its input rows, and the rows that it handed on for them.
struct StageRows {
  std::vector<std::vector<float>> in{}, out{};  // Rows by position, as far as both lines have them.
  bool altered = false;  // True if the stage changed the frame's tokens or head.
};
// Returns a stage's rows. `in` is null for the first stage, whose input is tokens.
[[nodiscard]] StageRows stage_rows(const AnswerPlaces& places, const LineFrames* in,
                                   const LineFrames* out, std::size_t embedding);
// Final states, by the ticket of their pass.
[[nodiscard]] std::map<std::uint32_t, std::vector<float>> final_states(const LineFrames& frames,
                                                                       std::size_t embedding);

}  // namespace weft::inference
