// What the stages of a chain tell each other, as bytes: little-endian, bounded, read strictly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/proof/activations.h"
#include "engine/llm/types.h"

namespace weft::llm {

using proof::Wire;

struct ChainFrame {
  enum class Kind : std::uint8_t {
    pass,      // Onwards: rows of a sequence. The last stage answers what is wanted.
    sampling,  // Onwards, for the last stage.
    close,     // Onwards: the sequence has ended.
    drawn,     // From the last stage to the first: tokens[0] with its log-probability in values[0].
    logits,    // The same: values.
    hidden,    // The same: values are the final hidden state behind the last row.
    fault,     // From any stage to the first: what `ticket` asked for cannot be done.
    commit,    // Around the chain, behind an answer: each line's block of frames ends here.
    together,  // Onwards: the next `sequence` frames are rows of different sequences that a stage
               // is to take through its layers in one pass.
  };
  enum class Want : std::uint8_t { nothing, draw, logits, hidden };

  Kind kind = Kind::pass;
  std::uint32_t sequence = 0;  // As the first stage numbers them.
  std::uint32_t ticket = 0;    // Number of a pass; its answer has the same.
  std::uint32_t at =
      0;  // Positions that stand before these rows; what a stage has beyond them it forgets.
  Want want = Want::nothing;
  std::vector<Token> tokens{};  // Tokens of the rows: the last stage's penalties look at them.
  std::vector<float> values{};  // pass: hidden states [row][embedding].
  Sampling sampling{};
  ErrorCode code = ErrorCode::internal;
  std::string message{};
};

inline constexpr std::size_t chain_frame_bytes_max = std::size_t{16} << 20;

[[nodiscard]] ByteVector encode(const ChainFrame& frame, Wire wire = Wire::f32);
// invalid_argument if the bytes are no frame.
[[nodiscard]] Result<ChainFrame> decode_chain_frame(ByteSpan bytes);

}  // namespace weft::llm
