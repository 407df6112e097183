// What a language model is, read from a GGUF file and checked: its numbers and where its weights
// lie. An architecture is a function that fills this (llama.h, gemma3.h, ...); the engines run
// whatever it describes and know no architecture.
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

// Rotary position embedding of the first 2 * frequencies.size() elements of every head: pair p
// turns by position * frequencies[p] radians. Scaling and sections are in the frequencies already;
// the divisors of Model::rope_divisors are not.
struct Rope {
  enum class Pairs : std::uint8_t {
    adjacent,  // Elements 2p and 2p + 1.
    halves     // Elements p and p + frequencies.size() ("neox").
  };
  Pairs pairs = Pairs::adjacent;
  std::vector<double> frequencies;
  double amplitude = 1;  // Factor of cosine and sine.
};

struct AttentionShape {
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;  // Divides heads; query head h reads key head h / (heads / kv_heads).
  std::uint32_t head_dim = 0;
  bool gated = false;  // Every query head is followed by a gate of head_dim rows; the output is
                       // multiplied by its sigmoid.
  float scale = 0;     // Factor of query . key.

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
  std::uint32_t conv_taps = 0;  // Positions that the convolution in front sees, this one included.

  [[nodiscard]] std::uint32_t key_rows() const { return key_heads * key_dim; }
  [[nodiscard]] std::uint32_t value_rows() const { return value_heads * value_dim; }
  [[nodiscard]] std::uint32_t conv_rows() const { return 2 * key_rows() + value_rows(); }
};

// What some layers' attention has in place of the others': it sees its own position and window - 1
// before that.
struct LocalAttention {
  std::uint32_t window = 0;
  Rope rope;
};

// What layers with experts have in the place of one feed-forward: many, of which each position goes
// through the `used` that a router scores highest. The softmax of their scores weighs what they
// give.
struct ExpertsShape {
  std::uint32_t count = 0;
  std::uint32_t used = 0;          // At most `count`.
  std::uint32_t feed_forward = 0;  // One expert's.
};

struct Config {
  std::string architecture;
  std::string name;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;
  std::uint32_t feed_forward = 0;  // With experts: of those of a position together.
  std::uint32_t vocabulary = 0;
  std::uint32_t context = 0;  // Positions that it was trained for.
  float norm_epsilon = 0;
  float embedding_scale = 1;  // Factor of the embeddings that go into the first layer.
  kernels::Activation activation =
      kernels::Activation::silu;  // What the feed-forward's gates go through.
  Rope rope;
  AttentionShape attention;
  std::optional<LocalAttention> local;     // Where some layers have it.
  std::optional<DeltaNetShape> delta_net;  // Where some layers have one.
  std::optional<ExpertsShape> experts;     // Where all layers have them.
};

// A matrix [rows][columns], row by row, or a vector (rows = 1).
using Weight = const gguf::Tensor*;

struct Attention {
  bool local = false;  // Config::local holds.
  Weight q = nullptr, k = nullptr, v = nullptr, output = nullptr;
  Weight q_bias = nullptr, k_bias = nullptr, v_bias = nullptr;  // nullptr if the model has none.
  Weight q_norm = nullptr,
         k_norm = nullptr;  // RMS norm of every head before the rotation; nullptr if it has none.
};

struct DeltaNet {
  Weight qkv = nullptr;   // [2 * key rows + value rows][embedding]: queries, keys, values.
  Weight gate = nullptr;  // [value rows][embedding]
  Weight beta =
      nullptr;  // [value heads][embedding]; its sigmoid is how much of a value is written.
  Weight alpha = nullptr;  // [value heads][embedding]; decay = exp(a * softplus(alpha + dt_bias)).
  Weight dt_bias = nullptr, a = nullptr;  // [value heads]
  Weight conv = nullptr;                  // [conv rows][taps], oldest first.
  Weight norm = nullptr;                  // [value dim]
  Weight output = nullptr;                // [embedding][value rows]
};

struct FeedForward {
  Weight gate = nullptr, up = nullptr, down = nullptr;
};

struct Experts {
  Weight router = nullptr;              // [experts][embedding]
  Weight gate = nullptr, up = nullptr;  // [experts][feed forward][embedding]
  Weight down = nullptr;                // [experts][embedding][feed forward]
};

struct Layer {
  Weight norm = nullptr;
  std::variant<Attention, DeltaNet> mixer;
  Weight feed_forward_norm = nullptr;
  std::variant<FeedForward, Experts> feed_forward;
  // RMS norms of what the mixer and the feed-forward add; nullptr if the model has none.
  Weight mixer_out_norm = nullptr, feed_forward_out_norm = nullptr;
};

struct Model {
  Config config;
  Weight token_embedding = nullptr;
  Weight rope_divisors = nullptr;  // For config.rope.frequencies (Llama 3.1 and later); nullptr
                                   // if the model has none.
  std::vector<Layer> layers;
  Weight output_norm = nullptr;
  Weight output = nullptr;  // token_embedding where they are tied.
};

// Fails with unsupported for an architecture or a weight format that Weft does not run, with
// invalid_argument if the metadata or the tensors are not what the architecture needs.
[[nodiscard]] Result<Model> read_model(const gguf::File& file);

// The tensors that layers [begin, end) read: with the first layer the embedding, with the last one
// the head.
[[nodiscard]] std::vector<Weight> tensors_of(const Model& model, std::uint32_t begin,
                                             std::uint32_t end);

// The numbers of a tensor as f32.
[[nodiscard]] Result<std::vector<float>> read_floats(const gguf::Source& source,
                                                     const gguf::Tensor& tensor);
// config.rope.frequencies over rope_divisors.
[[nodiscard]] Result<std::vector<double>> rope_frequencies(const Model& model,
                                                           const gguf::Source& source);

}  // namespace weft::llm
