// The reader that the architectures share: numbers of the metadata within bounds, and tensors of a
// given shape. Keys are given without the name of the architecture: "attention.head_count" is
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

  // Bounds that no real model exceeds, so that arithmetic with the numbers cannot overflow.
  static constexpr std::uint64_t layers_max = 1024;
  static constexpr std::uint64_t width_max = 1u << 18;
  static constexpr std::uint64_t heads_max = 4096;
  static constexpr std::uint64_t head_dim_max = 1024;
  static constexpr std::uint64_t experts_max = 2048, experts_used_max = 64;
  static constexpr std::uint64_t context_max = std::uint64_t{1} << 30;

  // A number of the metadata. Fails if it is not from 1 to max.
  [[nodiscard]] Result<std::uint32_t> count(std::string_view key, std::uint64_t max) const;
  [[nodiscard]] Result<std::uint32_t> count_or(std::string_view key, std::uint64_t otherwise,
                                               std::uint64_t max) const;
  [[nodiscard]] Result<double> number_or(std::string_view key, double otherwise) const;
  [[nodiscard]] std::string key(std::string_view name) const {
    return architecture_ + "." + std::string(name);
  }
  [[nodiscard]] const gguf::File& file() const { return file_; }
  [[nodiscard]] const std::string& architecture() const { return architecture_; }

  // Reads the numbers whose keys are the same in all architectures: layers, widths, context, norm
  // epsilon and the attention's heads.
  [[nodiscard]] Result<Config> common() const;
  // The rotary embedding for heads of `head_dim` elements, with linear scaling or YaRN if the
  // metadata ask for it.
  [[nodiscard]] Result<Rope> rope(Rope::Pairs pairs, std::uint32_t head_dim) const;
  // The rotary embedding of the layers with Config::local, whose base has a key of its own. These
  // layers have no scaling.
  [[nodiscard]] Result<Rope> local_rope(Rope::Pairs pairs, std::uint32_t head_dim) const;

  // The tensor of this name. Fails if it does not have this shape, innermost dimension first, or a
  // format that Weft runs.
  [[nodiscard]] Result<Weight> tensor(std::string_view name,
                                      std::initializer_list<std::uint64_t> shape) const;
  // The tensor of this name in one layer, such as "blk.3.attn_q.weight".
  [[nodiscard]] Result<Weight> tensor(std::uint32_t layer, std::string_view name,
                                      std::initializer_list<std::uint64_t> shape) const;
  // The tensor of this name in one layer; nullptr if it is missing.
  [[nodiscard]] Result<Weight> tensor_or_none(std::uint32_t layer, std::string_view name,
                                              std::initializer_list<std::uint64_t> shape) const;
  // Reads the token embedding, the output matrix and the norm before it, and sets
  // config.vocabulary.
  [[nodiscard]] Result<> read_ends(Model& model) const;
  [[nodiscard]] Result<FeedForward> feed_forward(std::uint32_t layer, const Config& config) const;
  // Reads the numbers expert_count, expert_used_count and expert_feed_forward_length.
  [[nodiscard]] Result<ExpertsShape> experts() const;
  [[nodiscard]] Result<Experts> experts(std::uint32_t layer, const Config& config) const;
  // The matrices for queries, keys, values and output, without biases and norms.
  [[nodiscard]] Result<Attention> attention(std::uint32_t layer, const Config& config) const;

 private:
  [[nodiscard]] Result<Rope> yarn_rope(Rope::Pairs pairs, std::uint32_t head_dim) const;
  [[nodiscard]] Result<Rope> rope(Rope::Pairs pairs, std::uint32_t head_dim,
                                  std::string_view base_key, double scale) const;

  const gguf::File& file_;
  const std::string architecture_;
};

}  // namespace weft::llm
