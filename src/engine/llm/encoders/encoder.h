// Runs an encoder on the processor, in plain f32: tokens of texts to one vector each, of length 1.
// Texts are taken together as far as memory allows, so that weights are read once for many.
//
//   WEFT_ASSIGN(const auto encoder, Encoder::create(model, source, 0));
//   WEFT_ASSIGN(const auto vectors, encoder->embed(texts));
//
// Source of the formulas: Devlin et al., "BERT" (2018); GELU by its tanh form, as in llama.cpp.
// Threading: one call at a time; it shares its work among `threads`. The model and the source
// outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/gguf/source.h"
#include "engine/llm/encoders/encoder_model.h"
#include "engine/llm/types.h"

namespace weft::llm {

class Encoder {
 public:
  virtual ~Encoder() = default;
  // `threads` 0: as many as the machine has.
  [[nodiscard]] static Result<std::unique_ptr<Encoder>> create(const EncoderModel& model,
                                                               const gguf::Source& source,
                                                               std::size_t threads);

  [[nodiscard]] virtual const EncoderConfig& config() const = 0;
  // [text][embedding]. invalid_argument for a text without tokens, with more than the context has,
  // or with a number that is no token.
  [[nodiscard]] virtual Result<std::vector<std::vector<float>>> embed(
      std::span<const std::vector<Token>> texts) = 0;
};

// The first `dimensions` elements, brought to length 1 again: what OpenAI's "dimensions" asks for.
// `dimensions` from 1 to the vector's size.
[[nodiscard]] std::vector<float> shortened(std::span<const float> vector, std::size_t dimensions);

}  // namespace weft::llm
