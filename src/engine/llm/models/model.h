// The description of a language model, read from a GGUF file and checked: its numbers and its
// tensors. An architecture is a function that fills in a Model (llama.h, gemma3.h, ...); the
// engines run any Model and know no architectures.
//
//   WEFT_ASSIGN(const Model model, read_model(file));
//
// Lifetime: tensors point into the gguf::File, which outlives the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "engine/gguf/file.h"
#include "engine/gguf/source.h"
#include "engine/kernels/reference/activation.h"

namespace weft::llm {

// Rotary position embedding of the first 2 * frequencies.size() elements of every head: pair p is
// rotated by position * frequencies[p] radians. The frequencies include scaling and sections, but
// not the divisors of Model::rope_divisors.
struct Rope {
  enum class Pairs : std::uint8_t {
    adjacent,  // A pair is the elements 2p and 2p + 1.
    halves     // Elements p and p + frequencies.size() ("neox").
  };
  Pairs pairs = Pairs::adjacent;
  std::vector<double> frequencies;
  double amplitude = 1;  // The factor of the cosines and sines.
};

struct AttentionShape {
  std::uint32_t heads = 0;
  // A divisor of heads. Query head h uses key head h / (heads / kv_heads).
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0;
  // True if every query head is followed by a gate of head_dim rows; the output is multiplied by
  // the sigmoid of the gate.
  bool gated = false;
  float scale = 0;  // The factor of the product query . key.

  [[nodiscard]] std::uint32_t q_rows() const { return heads * head_dim * (gated ? 2 : 1); }
  [[nodiscard]] std::uint32_t kv_rows() const { return kv_heads * head_dim; }
};

// A gated DeltaNet: a recurrent state of key_dim x value_dim for every value head. Value head v
// uses key head v % key_heads.
struct DeltaNetShape {
  std::uint32_t key_heads = 0;
  std::uint32_t value_heads = 0;
  std::uint32_t key_dim = 0;
  std::uint32_t value_dim = 0;
  std::uint32_t conv_taps = 0;  // Positions that the convolution sees, the current one included.

  [[nodiscard]] std::uint32_t key_rows() const { return key_heads * key_dim; }
  [[nodiscard]] std::uint32_t value_rows() const { return value_heads * value_dim; }
  [[nodiscard]] std::uint32_t conv_rows() const { return 2 * key_rows() + value_rows(); }
};

// Attention with a window, which some layers have instead of full attention: a position sees itself
// and the window - 1 positions before it.
struct LocalAttention {
  std::uint32_t window = 0;
  Rope rope;
};

// A mixture of experts, which some models have instead of one feed-forward: each position goes
// through the `used` experts that a router scores highest. Their outputs are weighted by the
// softmax of these scores.
struct ExpertsShape {
  std::uint32_t count = 0;
  std::uint32_t used = 0;          // The number of experts of a position, at most `count`.
  std::uint32_t feed_forward = 0;  // The width of the feed-forward of one expert.
};

struct Config {
  std::string architecture;
  std::string name;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;
  // The sum of the widths of the used experts, if there are experts.
  std::uint32_t feed_forward = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t context = 0;  // Positions that the model was trained for.
  float norm_epsilon = 0;
  float embedding_scale = 1;  // Factor of the embeddings that go into the first layer.
  // The activation function of the feed-forward's gates.
  kernels::Activation activation = kernels::Activation::silu;
  Rope rope;
  AttentionShape attention;
  std::optional<LocalAttention> local;     // Set if some layers have local attention.
  std::optional<DeltaNetShape> delta_net;  // Set if some layers have a delta net.
  std::optional<ExpertsShape> experts;     // Set if all layers have experts.
};

// A matrix [rows][columns], stored row by row, or a vector (rows = 1).
using Weight = const gguf::Tensor*;

struct Attention {
  bool local = false;  // True if Config::local applies to the layer.
  Weight q = nullptr, k = nullptr, v = nullptr, output = nullptr;
  // nullptr if the model has no biases.
  Weight q_bias = nullptr, k_bias = nullptr, v_bias = nullptr;
  // RMS norms of every head before the rotation; nullptr if the model has none.
  Weight q_norm = nullptr, k_norm = nullptr;
};

struct DeltaNet {
  Weight qkv = nullptr;   // [2 * key rows + value rows][embedding]: queries, keys, values.
  Weight gate = nullptr;  // The shape is [value rows][embedding].
  // [value heads][embedding]; the sigmoid is the share of a value that is written.
  Weight beta = nullptr;
  Weight alpha = nullptr;  // [value heads][embedding]; decay = exp(a * softplus(alpha + dt_bias)).
  Weight dt_bias = nullptr, a = nullptr;  // The shape is [value heads].
  Weight conv = nullptr;                  // The shape is [conv rows][taps], the oldest tap first.
  Weight norm = nullptr;                  // The shape is [value dim].
  Weight output = nullptr;                // The shape is [embedding][value rows].
};

struct FeedForward {
  Weight gate = nullptr, up = nullptr, down = nullptr;
};

struct Experts {
  Weight router = nullptr;              // The shape is [experts][embedding].
  Weight gate = nullptr, up = nullptr;  // The shape is [experts][feed forward][embedding].
  Weight down = nullptr;                // The shape is [experts][embedding][feed forward].
};

struct Layer {
  Weight norm = nullptr;
  std::variant<Attention, DeltaNet> mixer;
  Weight feed_forward_norm = nullptr;
  std::variant<FeedForward, Experts> feed_forward;
  // The RMS norms of the outputs of the mixer and the feed-forward; nullptr if the model has none.
  Weight mixer_out_norm = nullptr, feed_forward_out_norm = nullptr;
};

struct Model {
  Config config;
  Weight token_embedding = nullptr;
  // The divisors of config.rope.frequencies (Llama 3.1 and later); nullptr if the model has none.
  Weight rope_divisors = nullptr;
  std::vector<Layer> layers;
  Weight output_norm = nullptr;
  Weight output = nullptr;  // If the model ties them, this is the tensor token_embedding.
};

// Reads the description of a model. Fails with unsupported for an architecture or a weight format
// that Weft does not run, and with invalid_argument if the metadata or the tensors do not fit the
// architecture.
[[nodiscard]] Result<Model> read_model(const gguf::File& file);

// The tensors that layers [begin, end) need, with the embedding if they include the first layer and
// the head if they include the last.
[[nodiscard]] std::vector<Weight> tensors_of(const Model& model, std::uint32_t begin,
                                             std::uint32_t end);

// The values of a tensor as f32.
[[nodiscard]] Result<std::vector<float>> read_floats(const gguf::Source& source,
                                                     const gguf::Tensor& tensor);
// Returns config.rope.frequencies divided by the values of rope_divisors.
[[nodiscard]] Result<std::vector<double>> rope_frequencies(const Model& model,
                                                           const gguf::Source& source);

}  // namespace weft::llm
