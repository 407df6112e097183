#include "engine/llm/models/model.h"

#include <array>

#include "engine/gguf/dequantize.h"
#include "engine/llm/models/llama.h"
#include "engine/llm/models/qwen2.h"
#include "engine/llm/models/qwen35.h"

namespace weft::llm {
namespace {

struct Architecture {
  std::string_view name;
  Result<Model> (*read)(const gguf::File& file);
};
// A new architecture is a new pair of files and a row here.
constexpr std::array architectures = {Architecture{"llama", read_llama}, Architecture{"qwen2", read_qwen2}, Architecture{"qwen35", read_qwen35}};

}  // namespace

Result<Model> read_model(const gguf::File& file) {
  WEFT_ASSIGN(const std::string_view name, file.metadata.string("general.architecture"));
  std::string known;
  for (const Architecture& architecture : architectures) {
    if (architecture.name == name) return architecture.read(file);
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  return fail(ErrorCode::unsupported, "The architecture '{}' is not supported; Weft runs {}.", name, known);
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
      return fail(ErrorCode::invalid_argument, "Tensor 'rope_freqs.weight' has {} at {}; divisors are above 0.", divisors[i], i);
    frequencies[i] /= divisors[i];
  }
  return frequencies;
}

}  // namespace weft::llm
