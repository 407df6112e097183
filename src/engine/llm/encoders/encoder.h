// Runs an encoder, which turns the tokens of each text into one vector of length 1. Texts are
// computed together as far as memory allows, so that the weights are read once for many texts.
// create() makes an encoder on the CPU, in plain f32; gpu/gpu_encoder.h makes one on a GPU.
//
//   WEFT_ASSIGN(const auto encoder, Encoder::create(model, source));
//   WEFT_CO_ASSIGN(const auto vectors, co_await encoder->embed(texts));
//
// Source of the formulas: Devlin et al., "BERT" (2018); GELU by its tanh form, as in llama.cpp.
// Threading: one call at a time; it divides its work among `threads`. The model and the source
// outlive the encoder.
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
  std::size_t threads = 0;  // Threads of the CPU; 0: as many as the machine has.
  // Awaited between two layers, so that the thread can do other work there; without it embed()
  // never waits.
  std::function<Async<>()> between{};
};
using Vectors = std::vector<std::vector<float>>;  // The shape is [text][embedding].

class Encoder {
 public:
  virtual ~Encoder() = default;
  [[nodiscard]] static Result<std::unique_ptr<Encoder>> create(const EncoderModel& model,
                                                               const gguf::Source& source,
                                                               EncoderOptions options = {});

  [[nodiscard]] virtual const EncoderConfig& config() const = 0;
  // Returns the device's name as Engine::device() does.
  [[nodiscard]] virtual std::string device() const = 0;
  // The most positions that one pass takes of several texts; a longer text has a pass of its own.
  [[nodiscard]] virtual std::size_t rows_together() const = 0;
  // Makes the vectors of the texts; awaited to the end before the next call. Fails with
  // invalid_argument for a text without tokens, with more tokens than the context, or with a number
  // that is not a token.
  [[nodiscard]] virtual Async<Result<Vectors>> embed(std::vector<std::vector<Token>> texts) = 0;
};

// Makes the checks of embed() for one text.
[[nodiscard]] Result<> check_text(const EncoderConfig& config, std::span<const Token> tokens);

// The first `dimensions` elements, scaled to length 1 again, as OpenAI's "dimensions" asks for.
// `dimensions` is from 1 to the vector's size.
[[nodiscard]] std::vector<float> shortened(std::span<const float> vector, std::size_t dimensions);

}  // namespace weft::llm
