// What a model is that makes one vector of a text, read from a GGUF file and checked: layers that
// see all positions at once, and a rule by which the positions become one vector. An architecture
// is a function that fills this (bert.h, nomic_bert.h).
//
//   WEFT_ASSIGN(const EncoderModel model, read_encoder(file));
//
// Lifetime: tensors point into the gguf::File, which outlives the model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/llm/models/model.h"
#include "engine/llm/models/reading.h"

namespace weft::llm {

// How the positions become one vector; numbered as in files ("pooling_type").
enum class Pooling : std::uint8_t { mean = 1, first = 2, last = 3 };

struct EncoderConfig {
  std::string architecture;
  std::string name;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;  // Elements of a vector.
  std::uint32_t feed_forward = 0;
  std::uint32_t heads = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t context = 0;  // Positions that a text may have.
  float norm_epsilon = 0;
  Pooling pooling = Pooling::mean;
  Rope rope;  // Without frequencies where positions are embedded instead.

  [[nodiscard]] std::uint32_t head_dim() const { return embedding / heads; }
};

// y = x * weight + bias; the bias is nullptr if the model has none.
struct Affine {
  Weight weight = nullptr, bias = nullptr;
};

// Norms (of mean and variance) stand behind each part, on the sum with what went in.
struct EncoderLayer {
  Affine qkv;      // [3 * embedding][embedding]: queries, keys, values; or
  Affine q, k, v;  // each by itself.
  Affine output, output_norm;
  Affine up, down;
  Weight gate = nullptr;  // down(silu(gate) * up); without: down(gelu(up)).
  Affine layer_norm;
};

struct EncoderModel {
  EncoderConfig config;
  Weight token_embedding = nullptr;
  Weight token_types = nullptr;  // Its first row is added to each position; nullptr: nothing.
  Weight position_embedding = nullptr;  // [context][embedding]; nullptr if it turns (rope).
  Affine embedding_norm;
  std::vector<EncoderLayer> layers;
};

// Whether read_encoder() knows the architecture.
[[nodiscard]] bool is_encoder(std::string_view architecture);

// Errors as of read_model().
[[nodiscard]] Result<EncoderModel> read_encoder(const gguf::File& file);

// Every tensor that it runs on.
[[nodiscard]] std::vector<Weight> tensors_of(const EncoderModel& model);

// --- For the architectures.

// Numbers, the embeddings and their norm.
[[nodiscard]] Result<EncoderModel> begin_encoder(const ModelReader& reader);
// NAME.weight of [rows][columns], and NAME.bias where there is one.
[[nodiscard]] Result<Affine> read_affine(const ModelReader& reader, const std::string& name,
                                         std::uint64_t rows, std::uint64_t columns);
// NAME.weight and NAME.bias of [size].
[[nodiscard]] Result<Affine> read_norm(const ModelReader& reader, const std::string& name,
                                       std::uint64_t size);

}  // namespace weft::llm
