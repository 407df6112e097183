#include "engine/llm/models/model.h"

#include <array>

#include "engine/gguf/dequantize.h"
#include "engine/llm/models/gemma3.h"
#include "engine/llm/models/llama.h"
#include "engine/llm/models/mistral3.h"
#include "engine/llm/models/qwen2.h"
#include "engine/llm/models/qwen3.h"
#include "engine/llm/models/qwen35.h"
#include "engine/llm/models/qwen3moe.h"

namespace weft::llm {
namespace {

struct Architecture {
  std::string_view name;
  Result<Model> (*read)(const gguf::File& file);
};
// A new architecture is a new pair of files and a row of this table.
constexpr std::array architectures = {
    Architecture{"llama", read_llama},      Architecture{"qwen2", read_qwen2},
    Architecture{"qwen3", read_qwen3},      Architecture{"qwen35", read_qwen35},
    Architecture{"gemma3", read_gemma3},    Architecture{"mistral3", read_mistral3},
    Architecture{"qwen3moe", read_qwen3moe}};

}  // namespace

Result<Model> read_model(const gguf::File& file) {
  WEFT_ASSIGN(const std::string_view name, file.metadata.string("general.architecture"));
  std::string known;
  for (const Architecture& architecture : architectures) {
    if (architecture.name == name) return architecture.read(file);
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  return fail(ErrorCode::unsupported, "The architecture '{}' is not supported; Weft runs {}.", name,
              known);
}

std::vector<Weight> tensors_of(const Model& model, std::uint32_t begin, std::uint32_t end) {
  std::vector<Weight> out;
  const auto add = [&](auto... weights) {
    ((weights != nullptr ? out.push_back(weights) : void()), ...);
  };
  add(model.rope_divisors);
  if (begin == 0) add(model.token_embedding);
  for (std::uint32_t i = begin; i < end && i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    add(layer.norm, layer.feed_forward_norm, layer.mixer_out_norm, layer.feed_forward_out_norm);
    if (const auto* f = std::get_if<FeedForward>(&layer.feed_forward)) {
      add(f->gate, f->up, f->down);
    } else {
      const auto& e = std::get<Experts>(layer.feed_forward);
      add(e.router, e.gate, e.up, e.down);
    }
    if (const auto* a = std::get_if<Attention>(&layer.mixer)) {
      add(a->q, a->k, a->v, a->output, a->q_bias, a->k_bias, a->v_bias, a->q_norm, a->k_norm);
    } else {
      const auto& d = std::get<DeltaNet>(layer.mixer);
      add(d.qkv, d.gate, d.beta, d.alpha, d.dt_bias, d.a, d.conv, d.norm, d.output);
    }
  }
  if (end == model.config.layers) add(model.output_norm, model.output);
  return out;
}

Result<std::vector<float>> read_floats(const gguf::Source& source, const gguf::Tensor& tensor) {
  std::vector<float> out(tensor.elements());
  if (const auto view = source.view(tensor.offset, tensor.bytes)) {
    WEFT_OK(gguf::dequantize(tensor.type, *view, out));
    return out;
  }
  ByteVector bytes(tensor.bytes);
  WEFT_OK(source.read(tensor.offset, bytes));
  WEFT_OK(gguf::dequantize(tensor.type, bytes, out));
  return out;
}

Result<std::vector<double>> rope_frequencies(const Model& model, const gguf::Source& source) {
  std::vector<double> frequencies = model.config.rope.frequencies;
  if (model.rope_divisors == nullptr) return frequencies;
  WEFT_ASSIGN(const std::vector<float> divisors, read_floats(source, *model.rope_divisors));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    if (!(divisors[i] > 0))
      return fail(ErrorCode::invalid_argument,
                  "Tensor 'rope_freqs.weight' has the value {} at {}; it must be above 0.",
                  divisors[i], i);
    frequencies[i] /= divisors[i];
  }
  return frequencies;
}

}  // namespace weft::llm
