// The layers of a model in plain f32, and their state for one sequence.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "engine/llm/cpu/matrix.h"
#include "engine/llm/models/model.h"
#include "engine/llm/types.h"

namespace weft::llm {

// The keys and values of one layer, [position][kv row], rounded to the cache's format.
struct KvState {
  std::vector<float> keys, values;
};
// `history`: [conv row][taps - 1]. `state`: [value head][key][value].
struct DeltaState {
  std::vector<float> history, state;
};
using LayerState = std::variant<KvState, DeltaState>;

// The parameters of a pass that are the same for all layers.
struct Pass {
  const Config& config;
  std::span<const double> frequencies;  // The rotary frequencies after the model's divisors.
  KvFormat kv;
  Workers& workers;
  std::uint32_t position = 0;  // The position of the first vector.
  std::size_t count = 0;       // The number of vectors.
};

class CpuFeedForward;

class CpuLayer {
 public:
  CpuLayer();
  virtual ~CpuLayer();
  [[nodiscard]] virtual LayerState create_state() const = 0;
  // Replaces hidden[count][embedding] by the layer's output, and adds the positions to `state`.
  void run(const Pass& pass, LayerState& state, std::span<float> hidden) const;

  [[nodiscard]] static Result<std::unique_ptr<CpuLayer>> load(const gguf::Source& source,
                                                              const Config& config,
                                                              const Layer& layer);

 protected:
  // The mixer between the norms; input and result are [count][embedding].
  [[nodiscard]] virtual std::vector<float> mix(const Pass& pass, LayerState& state,
                                               std::span<const float> x) const = 0;

 private:
  std::vector<float> norm_, feed_forward_norm_;
  // Each is empty if the model has no such norm.
  std::vector<float> mixer_out_norm_, feed_forward_out_norm_;
  std::unique_ptr<const CpuFeedForward> feed_forward_;
};

// The values of the weight; empty if `weight` is nullptr.
[[nodiscard]] Result<std::vector<float>> read_optional(const gguf::Source& source, Weight weight);

// Rounds numbers as a cache of this format does; q8_0 rounds in blocks of 32.
void round_to(KvFormat format, std::span<float> values);

}  // namespace weft::llm
