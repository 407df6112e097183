// The description of a model that makes one vector of a text, read from a GGUF file and checked:
// layers that see all positions at once, and a rule that makes one vector of the positions. An
// architecture is a function that fills in an EncoderModel (bert.h, nomic_bert.h).
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

// The methods that make one vector of the positions; the numbers are those of "pooling_type" in
// files.
enum class Pooling : std::uint8_t { mean = 1, first = 2, last = 3 };

struct EncoderConfig {
  std::string architecture;
  std::string name;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;  // The number of elements in a vector.
  std::uint32_t feed_forward = 0;
  std::uint32_t heads = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t context = 0;  // The most positions that a text may have.
  float norm_epsilon = 0;
  Pooling pooling = Pooling::mean;
  Rope rope;  // Has no frequencies if the model has position embeddings instead.

  [[nodiscard]] std::uint32_t head_dim() const { return embedding / heads; }
};

// y = x * weight + bias; the bias is nullptr if the model has none.
struct Affine {
  Weight weight = nullptr, bias = nullptr;
};

// A layer. Its norms (of mean and variance) come after each part, on the sum of the part's input
// and output.
struct EncoderLayer {
  Affine qkv;      // [3 * embedding][embedding]: queries, keys and values in one matrix.
  Affine q, k, v;  // Queries, keys and values in a matrix each.
  Affine output, output_norm;
  Affine up, down;
  Weight gate = nullptr;  // The result is down(silu(gate) * up), or down(gelu(up)) without a gate.
  Affine layer_norm;
};

struct EncoderModel {
  EncoderConfig config;
  Weight token_embedding = nullptr;
  Weight token_types = nullptr;         // The first row is added to each position; may be nullptr.
  Weight position_embedding = nullptr;  // [context][embedding]; nullptr if the model uses `rope`.
  Affine embedding_norm;
  std::vector<EncoderLayer> layers;
};

// True if read_encoder() knows the architecture.
[[nodiscard]] bool is_encoder(std::string_view architecture);

// Reads the description of an encoder. Fails as read_model() does.
[[nodiscard]] Result<EncoderModel> read_encoder(const gguf::File& file);

// Returns all tensors that the model uses.
[[nodiscard]] std::vector<Weight> tensors_of(const EncoderModel& model);

// --- Functions for the files of the architectures.

// Reads the numbers, the embeddings and their norm.
[[nodiscard]] Result<EncoderModel> begin_encoder(const ModelReader& reader);
// Reads NAME.weight of [rows][columns], and NAME.bias if the file has it.
[[nodiscard]] Result<Affine> read_affine(const ModelReader& reader, const std::string& name,
                                         std::uint64_t rows, std::uint64_t columns);
// Reads the tensors NAME.weight and NAME.bias, which have the shape [size].
[[nodiscard]] Result<Affine> read_norm(const ModelReader& reader, const std::string& name,
                                       std::uint64_t size);

}  // namespace weft::llm
