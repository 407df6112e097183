// Runs an encoder: tokens of texts to one vector each, of length 1. Texts are taken together as far
// as memory allows, so that weights are read once for many. Here on the processor, in plain f32;
// gpu/gpu_encoder.h is the same on a GPU.
//
//   WEFT_ASSIGN(const auto encoder, Encoder::create(model, source));
//   WEFT_CO_ASSIGN(const auto vectors, co_await encoder->embed(texts));
//
// Source of the formulas: Devlin et al., "BERT" (2018); GELU by its tanh form, as in llama.cpp.
// Threading: one call at a time; it shares its work among `threads`. The model and the source
// outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/async.h"
#include "engine/gguf/source.h"
#include "engine/llm/encoders/encoder_model.h"
#include "engine/llm/types.h"

namespace weft::llm {

struct EncoderOptions {
  std::size_t threads = 0;  // 0: as many as the machine has.
  // Awaited between two layers, so that a thread that has other things to do gets to them; without
  // it embed() never waits.
  std::function<Async<>()> between{};
};
using Vectors = std::vector<std::vector<float>>;  // [text][embedding]

class Encoder {
 public:
  virtual ~Encoder() = default;
  [[nodiscard]] static Result<std::unique_ptr<Encoder>> create(const EncoderModel& model,
                                                               const gguf::Source& source,
                                                               EncoderOptions options = {});

  [[nodiscard]] virtual const EncoderConfig& config() const = 0;
  [[nodiscard]] virtual std::string device() const = 0;  // As of Engine.
  // Positions that a pass takes at most, of texts together; a longer text goes alone.
  [[nodiscard]] virtual std::size_t rows_together() const = 0;
  // Its work, awaited to the end before the next call. invalid_argument for a text without tokens,
  // with more than the context has, or with a number that is no token.
  [[nodiscard]] virtual Async<Result<Vectors>> embed(std::vector<std::vector<Token>> texts) = 0;
};

// What embed() says of one text, before it.
[[nodiscard]] Result<> check_text(const EncoderConfig& config, std::span<const Token> tokens);

// The first `dimensions` elements, brought to length 1 again: what OpenAI's "dimensions" asks for.
// `dimensions` from 1 to the vector's size.
[[nodiscard]] std::vector<float> shortened(std::span<const float> vector, std::size_t dimensions);

}  // namespace weft::llm
