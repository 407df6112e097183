// The layers of a model in plain f32, and what they remember of one sequence.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "engine/llm/cpu/matrix.h"
#include "engine/llm/models/model.h"
#include "engine/llm/types.h"

namespace weft::llm {

// Keys and values of one layer: [position][kv row], rounded as the cache's format would.
struct KvState {
  std::vector<float> keys, values;
};
// [conv row][taps - 1], and [value head][key][value].
struct DeltaState {
  std::vector<float> history, state;
};
using LayerState = std::variant<KvState, DeltaState>;

// What stays the same through a pass.
struct Pass {
  const Config& config;
  std::span<const double> frequencies;  // Those of Config::rope, divided by the model's divisors.
  KvFormat kv;
  Workers& workers;
  std::uint32_t position = 0;  // Position of the first vector.
  std::size_t count = 0;       // Vectors.
};

class CpuFeedForward;

class CpuLayer {
 public:
  CpuLayer();
  virtual ~CpuLayer();
  [[nodiscard]] virtual LayerState create_state() const = 0;
  // hidden[count][embedding] becomes what the layer makes of it; `state` takes the positions in.
  void run(const Pass& pass, LayerState& state, std::span<float> hidden) const;

  [[nodiscard]] static Result<std::unique_ptr<CpuLayer>> load(const gguf::Source& source,
                                                              const Config& config,
                                                              const Layer& layer);

 protected:
  // The part between the norms: [count][embedding] to [count][embedding].
  [[nodiscard]] virtual std::vector<float> mix(const Pass& pass, LayerState& state,
                                               std::span<const float> x) const = 0;

 private:
  std::vector<float> norm_, feed_forward_norm_;
  std::vector<float> mixer_out_norm_, feed_forward_out_norm_;  // Empty where the model has none.
  std::unique_ptr<const CpuFeedForward> feed_forward_;
};

// Empty for nullptr.
[[nodiscard]] Result<std::vector<float>> read_optional(const gguf::Source& source, Weight weight);

// Rounds numbers as a cache of this format keeps them; blocks of 32 for q8_0.
void round_to(KvFormat format, std::span<float> values);

}  // namespace weft::llm
