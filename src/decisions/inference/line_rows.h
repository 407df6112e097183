// Hidden states that the lines of a chain carried for one answer, read from their frames. Frames of
// all lines from the first to the last stage correspond by their numbers: a stage hands each one
// on, with rows of its own in it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/proof/activations.h"

namespace weft::inference {

// Frames of a line by their number.
using LineFrames = std::map<std::uint32_t, proof::Activations>;
[[nodiscard]] LineFrames read_frames(const std::map<std::uint32_t, ByteVector>& frames);

// Where a line has an answer: the frame and the row in it of each position, and the passes that
// asked for the final state.
struct AnswerPlaces {
  struct Row {
    std::uint32_t number = 0;
    std::uint32_t row = 0;
  };
  struct Asked {
    std::uint32_t number = 0;
    std::uint32_t positions = 0;  // Before the state.
  };
  std::vector<Row> rows{};                 // By position.
  std::map<std::uint32_t, Asked> asked{};  // By ticket.
};
// By the line out of the first stage, all frames of one sequence: where its tokens are `tokens`.
// What was read again after going back replaces what was read first; of several answers of a
// sequence it is the one with these tokens. Positions behind a gap are missing.
[[nodiscard]] AnswerPlaces find_answer(const LineFrames& frames,
                                       std::span<const std::int32_t> tokens);

// A stage's frames, in and out: what came in, and what it handed on for that.
struct StageRows {
  std::vector<std::vector<float>> in{}, out{};  // By position, as many as both lines have.
  bool altered = false;  // It handed something else on than what came: of other rows or tokens.
};
// `in` is empty for the first stage, which gets tokens.
[[nodiscard]] StageRows stage_rows(const AnswerPlaces& places, const LineFrames* in,
                                   const LineFrames* out, std::size_t embedding);
// Final states by their pass's ticket.
[[nodiscard]] std::map<std::uint32_t, std::vector<float>> final_states(const LineFrames& frames,
                                                                       std::size_t embedding);

}  // namespace weft::inference
