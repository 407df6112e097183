#include "engine/llm/cpu/layers.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "engine/gguf/half.h"
#include "engine/kernels/reference/norm.h"
#include "engine/llm/cpu/attention_layer.h"
#include "engine/llm/cpu/delta_net_layer.h"
#include "engine/llm/cpu/feed_forward.h"

namespace weft::llm {
namespace reference = kernels::reference;
namespace {

float round_to_half(float value) { return gguf::half_to_float(gguf::float_to_half(value)); }

void norm_rows(std::span<const float> x, std::span<const float> weight, float epsilon,
               std::span<float> out) {
  const std::size_t width = weight.size();
  for (std::size_t i = 0; i < x.size(); i += width)
    reference::rms_norm(x.subspan(i, width), weight, epsilon, out.subspan(i, width));
}

}  // namespace

void round_to(KvFormat format, std::span<float> values) {
  if (format == KvFormat::f16) {
    for (float& value : values) value = round_to_half(value);
  } else if (format == KvFormat::q8_0) {
    for (std::size_t begin = 0; begin < values.size(); begin += 32) {
      const std::span<float> block =
          values.subspan(begin, std::min<std::size_t>(32, values.size() - begin));
      float top = 0;
      for (const float value : block) top = std::max(top, std::abs(value));
      const float scale = top / 127, inverse = scale > 0 ? 1 / scale : 0,
                  kept = round_to_half(scale);
      for (float& value : block) value = std::round(value * inverse) * kept;
    }
  }
}

Result<std::vector<float>> read_optional(const gguf::Source& source, Weight weight) {
  if (weight == nullptr) return std::vector<float>();
  return read_floats(source, *weight);
}

Result<std::unique_ptr<CpuLayer>> CpuLayer::load(const gguf::Source& source, const Config& config,
                                                 const Layer& layer) {
  std::unique_ptr<CpuLayer> out;
  if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
    WEFT_ASSIGN(out, AttentionLayer::load(source, config, *attention));
  } else {
    WEFT_ASSIGN(out, DeltaNetLayer::load(source, config, std::get<DeltaNet>(layer.mixer)));
  }
  WEFT_ASSIGN(out->norm_, read_floats(source, *layer.norm));
  WEFT_ASSIGN(out->feed_forward_norm_, read_floats(source, *layer.feed_forward_norm));
  WEFT_ASSIGN(out->mixer_out_norm_, read_optional(source, layer.mixer_out_norm));
  WEFT_ASSIGN(out->feed_forward_out_norm_, read_optional(source, layer.feed_forward_out_norm));
  WEFT_ASSIGN(CpuFeedForward feed_forward,
              CpuFeedForward::load(source, config, layer.feed_forward));
  out->feed_forward_ = std::make_unique<const CpuFeedForward>(std::move(feed_forward));
  return out;
}

CpuLayer::CpuLayer() = default;
CpuLayer::~CpuLayer() = default;

void CpuLayer::run(const Pass& pass, LayerState& state, std::span<float> hidden) const {
  const auto add = [&](std::span<float> more, std::span<const float> norm) {
    if (!norm.empty()) norm_rows(more, norm, pass.config.norm_epsilon, more);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] += more[i];
  };
  std::vector<float> x(hidden.size());
  norm_rows(hidden, norm_, pass.config.norm_epsilon, x);
  std::vector<float> mixed = mix(pass, state, x);
  add(mixed, mixer_out_norm_);

  norm_rows(hidden, feed_forward_norm_, pass.config.norm_epsilon, x);
  std::vector<float> given(hidden.size());
  feed_forward_->run(pass, x, given);
  add(given, feed_forward_out_norm_);
}

}  // namespace weft::llm
