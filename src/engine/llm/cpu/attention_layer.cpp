#include "engine/llm/cpu/attention_layer.h"

#include <algorithm>
#include <cstdint>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/attention.h"
#include "engine/kernels/reference/norm.h"
#include "engine/kernels/reference/rotate.h"

namespace weft::llm {
namespace reference = kernels::reference;
namespace {

void add_bias(std::span<float> rows, std::span<const float> bias) {
  if (bias.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += bias[i % bias.size()];
}

}  // namespace

Result<std::unique_ptr<CpuLayer>> AttentionLayer::load(const gguf::Source& source, const Config&,
                                                       const Attention& weights) {
  auto out = std::make_unique<AttentionLayer>();
  out->local_ = weights.local;
  WEFT_ASSIGN(out->q_, Matrix::load(source, *weights.q));
  WEFT_ASSIGN(out->k_, Matrix::load(source, *weights.k));
  WEFT_ASSIGN(out->v_, Matrix::load(source, *weights.v));
  WEFT_ASSIGN(out->output_, Matrix::load(source, *weights.output));
  WEFT_ASSIGN(out->q_bias_, read_optional(source, weights.q_bias));
  WEFT_ASSIGN(out->k_bias_, read_optional(source, weights.k_bias));
  WEFT_ASSIGN(out->v_bias_, read_optional(source, weights.v_bias));
  WEFT_ASSIGN(out->q_norm_, read_optional(source, weights.q_norm));
  WEFT_ASSIGN(out->k_norm_, read_optional(source, weights.k_norm));
  return out;
}

// Rotates a query or key head by the position of its row.
void AttentionLayer::turn(const Pass& pass, std::size_t row, std::span<float> head) const {
  const Rope& rope = local_ ? pass.config.local->rope : pass.config.rope;
  reference::rotate(head, local_ ? rope.frequencies : pass.frequencies,
                    pass.position + static_cast<std::uint32_t>(row),
                    rope.pairs == Rope::Pairs::adjacent ? reference::RotaryPairs::adjacent
                                                        : reference::RotaryPairs::halves,
                    rope.amplitude);
}

// Norms and rotates the new keys, and appends them and the values to the cache.
void AttentionLayer::store(const Pass& pass, KvState& state, std::span<float> keys,
                           std::span<float> values) const {
  const AttentionShape& shape = pass.config.attention;
  for (std::size_t i = 0; i < pass.count; ++i) {
    for (std::size_t h = 0; h < shape.kv_heads; ++h) {
      const std::span<float> head =
          keys.subspan(i * shape.kv_rows() + h * shape.head_dim, shape.head_dim);
      if (!k_norm_.empty()) reference::rms_norm(head, k_norm_, pass.config.norm_epsilon, head);
      turn(pass, i, head);
    }
  }
  round_to(pass.kv, keys);
  round_to(pass.kv, values);
  state.keys.resize(std::size_t{pass.position} * shape.kv_rows());
  state.values.resize(std::size_t{pass.position} * shape.kv_rows());
  state.keys.insert(state.keys.end(), keys.begin(), keys.end());
  state.values.insert(state.values.end(), values.begin(), values.end());
}

std::vector<float> AttentionLayer::mix(const Pass& pass, LayerState& layer_state,
                                       std::span<const float> x) const {
  auto& state = std::get<KvState>(layer_state);
  const AttentionShape& shape = pass.config.attention;
  const std::size_t dim = shape.head_dim, q_stride = dim * (shape.gated ? 2 : 1);
  std::vector<float> q(pass.count * shape.q_rows()), k(pass.count * shape.kv_rows()), v(k.size());
  q_.multiply(x, q, pass.workers);
  k_.multiply(x, k, pass.workers);
  v_.multiply(x, v, pass.workers);
  add_bias(q, q_bias_);
  add_bias(k, k_bias_);
  add_bias(v, v_bias_);
  store(pass, state, k, v);

  const std::size_t window = local_ ? pass.config.local->window : SIZE_MAX;
  const std::size_t group = shape.heads / shape.kv_heads;
  std::vector<float> mixed(pass.count * shape.heads * dim);
  const auto work = [&](std::size_t begin, std::size_t end) {
    std::vector<float> scores(pass.position + pass.count);
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t i = task / shape.heads, h = task % shape.heads;
      const std::span<float> query = std::span(q).subspan(i * shape.q_rows() + h * q_stride, dim);
      if (!q_norm_.empty()) reference::rms_norm(query, q_norm_, pass.config.norm_epsilon, query);
      turn(pass, i, query);
      const std::size_t behind = pass.position + i + 1, positions = std::min(behind, window),
                        offset = (behind - positions) * shape.kv_rows() + h / group * dim;
      const std::span<float> out = std::span(mixed).subspan(task * dim, dim);
      reference::attention(query, {state.keys.data() + offset, shape.kv_rows(), positions},
                           {state.values.data() + offset, shape.kv_rows(), positions}, shape.scale,
                           scores, out);
      if (shape.gated) {
        const float* gate = query.data() + dim;
        for (std::size_t e = 0; e < dim; ++e) out[e] *= reference::sigmoid(gate[e]);
      }
    }
  };
  pass.workers.share(pass.count * shape.heads, work);
  std::vector<float> out(x.size());
  output_.multiply(mixed, out, pass.workers);
  return out;
}

}  // namespace weft::llm
