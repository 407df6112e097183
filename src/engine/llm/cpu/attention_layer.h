#pragma once

#include "engine/llm/cpu/layers.h"

namespace weft::llm {

// Softmax attention over a cache of keys and values.
class AttentionLayer final : public CpuLayer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<CpuLayer>> load(const gguf::Source& source,
                                                              const Config& config,
                                                              const Attention& weights);
  [[nodiscard]] LayerState create_state() const override { return KvState(); }

 protected:
  [[nodiscard]] std::vector<float> mix(const Pass& pass, LayerState& state,
                                       std::span<const float> x) const override;

 private:
  void store(const Pass& pass, KvState& state, std::span<float> keys,
             std::span<float> values) const;

  void turn(const Pass& pass, std::size_t row, std::span<float> head) const;

  bool local_ = false;
  Matrix q_, k_, v_, output_;
  std::vector<float> q_bias_, k_bias_, v_bias_;  // Empty if the model has no biases.
  std::vector<float> q_norm_, k_norm_;
};

}  // namespace weft::llm
