#include "engine/llm/cpu/delta_net_layer.h"

#include <cmath>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/delta_net.h"
#include "engine/kernels/reference/norm.h"

namespace weft::llm {
namespace reference = kernels::reference;

Result<std::unique_ptr<CpuLayer>> DeltaNetLayer::load(const gguf::Source& source,
                                                      const Config& config,
                                                      const DeltaNet& weights) {
  auto out = std::make_unique<DeltaNetLayer>();
  out->shape_ = *config.delta_net;
  WEFT_ASSIGN(out->qkv_, Matrix::load(source, *weights.qkv));
  WEFT_ASSIGN(out->gate_, Matrix::load(source, *weights.gate));
  WEFT_ASSIGN(out->beta_, Matrix::load(source, *weights.beta));
  WEFT_ASSIGN(out->alpha_, Matrix::load(source, *weights.alpha));
  WEFT_ASSIGN(out->output_, Matrix::load(source, *weights.output));
  WEFT_ASSIGN(out->dt_bias_, read_floats(source, *weights.dt_bias));
  WEFT_ASSIGN(out->a_, read_floats(source, *weights.a));
  WEFT_ASSIGN(out->conv_, read_floats(source, *weights.conv));
  WEFT_ASSIGN(out->norm_, read_floats(source, *weights.norm));
  return out;
}

LayerState DeltaNetLayer::create_state() const {
  DeltaState state;
  state.history.resize(std::size_t{shape_.conv_rows()} * (shape_.conv_taps - 1));
  state.state.resize(std::size_t{shape_.value_heads} * shape_.key_dim * shape_.value_dim);
  return state;
}

void DeltaNetLayer::step(const Pass& pass, std::span<float> state, std::span<const float> conv,
                         std::size_t head, float alpha, float beta, std::span<float> out) const {
  const std::size_t key_head = head % shape_.key_heads, dim = shape_.key_dim;
  std::vector<float> query(conv.begin() + static_cast<std::ptrdiff_t>(key_head * dim),
                           conv.begin() + static_cast<std::ptrdiff_t>((key_head + 1) * dim));
  const std::span<const float> key_row = conv.subspan(shape_.key_rows() + key_head * dim, dim);
  std::vector<float> key(key_row.begin(), key_row.end());
  reference::l2_norm(query, pass.config.norm_epsilon);
  reference::l2_norm(key, pass.config.norm_epsilon);
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  for (float& value : query) value *= scale;
  const reference::DeltaStep step{
      .query = query,
      .key = key,
      .value = conv.subspan(std::size_t{2} * shape_.key_rows() + head * shape_.value_dim,
                            shape_.value_dim),
      .decay = std::exp(a_[head] * reference::softplus(alpha + dt_bias_[head])),
      .beta = reference::sigmoid(beta),
  };
  reference::delta_step(step, state, out);
  reference::rms_norm(out, norm_, pass.config.norm_epsilon, out);
}

std::vector<float> DeltaNetLayer::mix(const Pass& pass, LayerState& layer_state,
                                      std::span<const float> x) const {
  auto& state = std::get<DeltaState>(layer_state);
  const std::size_t heads = shape_.value_heads, value_dim = shape_.value_dim,
                    values = shape_.value_rows(), conv_rows = shape_.conv_rows();
  std::vector<float> conv(pass.count * conv_rows), gate(pass.count * values),
      alpha(pass.count * heads), beta(alpha.size());
  qkv_.multiply(x, conv, pass.workers);
  gate_.multiply(x, gate, pass.workers);
  alpha_.multiply(x, alpha, pass.workers);
  beta_.multiply(x, beta, pass.workers);

  std::vector<float> mixed(pass.count * values);
  for (std::size_t i = 0; i < pass.count; ++i)
    reference::convolve(std::span(conv).subspan(i * conv_rows, conv_rows), state.history, conv_,
                        shape_.conv_taps);
  pass.workers.share(heads, [&](std::size_t begin, std::size_t end) {
    const std::size_t state_size = std::size_t{shape_.key_dim} * value_dim;
    for (std::size_t h = begin; h < end; ++h) {
      for (std::size_t i = 0; i < pass.count; ++i) {
        step(pass, std::span(state.state).subspan(h * state_size, state_size),
             std::span(conv).subspan(i * conv_rows, conv_rows), h, alpha[i * heads + h],
             beta[i * heads + h], std::span(mixed).subspan(i * values + h * value_dim, value_dim));
      }
    }
  });
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] *= reference::silu(gate[i]);
  std::vector<float> out(x.size());
  output_.multiply(mixed, out, pass.workers);
  return out;
}

}  // namespace weft::llm
