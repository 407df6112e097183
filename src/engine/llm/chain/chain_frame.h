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
    // Rows of a sequence, to the next stage. The last stage answers with the value that `want`
    // names.
    pass,
    sampling,  // Sampling settings for the last stage, to the next stage.
    close,     // The end of a sequence, to the next stage.
    drawn,     // tokens[0] with its log-probability in values[0], to the first stage.
    logits,    // Logits in `values`, from the last stage to the first.
    hidden,    // The hidden state after the last row in `values`, from the last stage to the first.
    fault,     // The request with this ticket failed; from any stage to the first.
    // Goes through all stages and back to the first stage after an answer. It ends the block of
    // frames of each connection.
    commit,
    // Announces to the next stage that the next `sequence` frames are rows of different sequences,
    // which a stage takes through its layers in one pass.
    together,
  };
  enum class Want : std::uint8_t { nothing, draw, logits, hidden };

  Kind kind = Kind::pass;
  std::uint32_t sequence = 0;  // The first stage's number of the sequence.
  std::uint32_t ticket = 0;    // The number of a request. The answer to it carries the same number.
  // The number of positions before these rows. A stage that has more positions drops those beyond
  // it.
  std::uint32_t at = 0;
  Want want = Want::nothing;
  std::vector<Token> tokens{};  // The tokens of the rows, for the penalties of the last stage.
  std::vector<float> values{};  // The hidden states [row][embedding] of a pass frame.
  Sampling sampling{};
  ErrorCode code = ErrorCode::internal;
  std::string message{};
};

inline constexpr std::size_t chain_frame_bytes_max = std::size_t{16} << 20;

[[nodiscard]] ByteVector encode(const ChainFrame& frame, Wire wire = Wire::f32);
// Fails with invalid_argument if the bytes are not a frame.
[[nodiscard]] Result<ChainFrame> decode_chain_frame(ByteSpan bytes);

}  // namespace weft::llm
