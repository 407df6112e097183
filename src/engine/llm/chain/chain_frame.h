// The messages between the stages of a chain, as bytes: little-endian, of bounded size, strictly
// parsed.
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
    pass,  // To the next stage: rows of a sequence. The last stage answers with what `want` says.
    sampling,  // To the next stage: the sampling, which the last stage uses.
    close,     // To the next stage: the sequence has ended.
    drawn,     // From the last stage to the first: tokens[0] with its log-probability in values[0].
    logits,    // From the last stage to the first: `values` are the logits.
    hidden,  // From the last stage to the first: `values` are the hidden state after the last row.
    fault,   // From any stage to the first: the request with this ticket failed.
    // Through all stages and back to the first, after an answer: ends each line's block of frames.
    commit,
    // To the next stage: the next `sequence` frames are rows of different sequences, which a stage
    // takes through its layers in one pass.
    together,
  };
  enum class Want : std::uint8_t { nothing, draw, logits, hidden };

  Kind kind = Kind::pass;
  std::uint32_t sequence = 0;  // The first stage's number of the sequence.
  std::uint32_t ticket = 0;    // The number of a request; its answer has the same number.
  // The number of positions before these rows. A stage drops the positions that it has beyond them.
  std::uint32_t at = 0;
  Want want = Want::nothing;
  std::vector<Token> tokens{};  // The tokens of the rows, for the penalties of the last stage.
  std::vector<float> values{};  // In a pass frame: hidden states [row][embedding].
  Sampling sampling{};
  ErrorCode code = ErrorCode::internal;
  std::string message{};
};

inline constexpr std::size_t chain_frame_bytes_max = std::size_t{16} << 20;

[[nodiscard]] ByteVector encode(const ChainFrame& frame, Wire wire = Wire::f32);
// Fails with invalid_argument if the bytes are not a frame.
[[nodiscard]] Result<ChainFrame> decode_chain_frame(ByteSpan bytes);

}  // namespace weft::llm
