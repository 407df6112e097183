// What the architectures share: numbers of the metadata within bounds, and tensors of a given
// shape. Keys are given without the architecture in front: "attention.head_count" is
// "llama.attention.head_count" in the file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/llm/models/model.h"

namespace weft::llm {

class ModelReader {
 public:
  ModelReader(const gguf::File& file, std::string architecture)
      : file_(file), architecture_(std::move(architecture)) {}

  // Bounds that no real model passes, so that what is computed from the numbers cannot overflow.
  static constexpr std::uint64_t layers_max = 1024;
  static constexpr std::uint64_t width_max = 1u << 18;
  static constexpr std::uint64_t heads_max = 4096;
  static constexpr std::uint64_t head_dim_max = 1024;
  static constexpr std::uint64_t experts_max = 2048, experts_used_max = 64;
  static constexpr std::uint64_t context_max = std::uint64_t{1} << 30;

  // From 1 to max.
  [[nodiscard]] Result<std::uint32_t> count(std::string_view key, std::uint64_t max) const;
  [[nodiscard]] Result<std::uint32_t> count_or(std::string_view key, std::uint64_t otherwise,
                                               std::uint64_t max) const;
  [[nodiscard]] Result<double> number_or(std::string_view key, double otherwise) const;
  [[nodiscard]] std::string key(std::string_view name) const {
    return architecture_ + "." + std::string(name);
  }
  [[nodiscard]] const gguf::File& file() const { return file_; }
  [[nodiscard]] const std::string& architecture() const { return architecture_; }

  // Layers, widths, context, epsilon and attention's heads, which all architectures give alike.
  [[nodiscard]] Result<Config> common() const;
  // The frequencies for `dimensions` rotated elements, linear scaling and YaRN included.
  [[nodiscard]] Result<Rope> rope(Rope::Pairs pairs, std::uint32_t head_dim) const;
  // The same for the layers of Config::local, whose base has another key; never scaled.
  [[nodiscard]] Result<Rope> local_rope(Rope::Pairs pairs, std::uint32_t head_dim) const;

  // A tensor of this shape, innermost dimension first, of a format that Weft runs.
  [[nodiscard]] Result<Weight> tensor(std::string_view name,
                                      std::initializer_list<std::uint64_t> shape) const;
  // The same of one layer: "blk.3.attn_q.weight".
  [[nodiscard]] Result<Weight> tensor(std::uint32_t layer, std::string_view name,
                                      std::initializer_list<std::uint64_t> shape) const;
  // nullptr if it is missing.
  [[nodiscard]] Result<Weight> tensor_or_none(std::uint32_t layer, std::string_view name,
                                              std::initializer_list<std::uint64_t> shape) const;
  // Embedding, output and the norm between; config.vocabulary is known from here on.
  [[nodiscard]] Result<> read_ends(Model& model) const;
  [[nodiscard]] Result<FeedForward> feed_forward(std::uint32_t layer, const Config& config) const;
  // expert_count, expert_used_count and expert_feed_forward_length.
  [[nodiscard]] Result<ExpertsShape> experts() const;
  [[nodiscard]] Result<Experts> experts(std::uint32_t layer, const Config& config) const;
  // Q, K, V and output without biases and norms.
  [[nodiscard]] Result<Attention> attention(std::uint32_t layer, const Config& config) const;

 private:
  [[nodiscard]] Result<Rope> yarn_rope(Rope::Pairs pairs, std::uint32_t head_dim) const;
  [[nodiscard]] Result<Rope> rope(Rope::Pairs pairs, std::uint32_t head_dim,
                                  std::string_view base_key, double scale) const;

  const gguf::File& file_;
  const std::string architecture_;
};

}  // namespace weft::llm
