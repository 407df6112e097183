#pragma once

#include "engine/llm/cpu/layers.h"

namespace weft::llm {

// A gated DeltaNet: a convolution over the last positions, then a recurrent state for every head.
class DeltaNetLayer final : public CpuLayer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<CpuLayer>> load(const gguf::Source& source,
                                                              const Config& config,
                                                              const DeltaNet& weights);
  [[nodiscard]] LayerState create_state() const override;

 protected:
  [[nodiscard]] std::vector<float> mix(const Pass& pass, LayerState& state,
                                       std::span<const float> x) const override;

 private:
  // Runs one position of one value head.
  void step(const Pass& pass, std::span<float> state, std::span<const float> conv, std::size_t head,
            float alpha, float beta, std::span<float> out) const;

  DeltaNetShape shape_;
  Matrix qkv_, gate_, beta_, alpha_, output_;
  std::vector<float> dt_bias_, a_, conv_, norm_;
};

}  // namespace weft::llm
