#include "engine/onnx/gpu/input_rules.h"

#include "engine/onnx/gpu/ranges.h"

namespace weft::onnx {
namespace {

// The largest inputs whose values may give shapes.
constexpr std::int64_t telling_elements_max = 64;
constexpr std::uint64_t telling_bytes_max = 64 << 10;

}  // namespace

bool InputRules::is_known(std::size_t input, const Tensor& value) const {
  return telling_[input] &&
         (value.type() == ElementType::i64 ? value.byte_count() <= telling_bytes_max
                                           : value.count() <= telling_elements_max);
}

std::string InputRules::key_of(std::span<const Tensor> inputs) const {
  std::string key;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    key += weft::format("{}{};", to_string(input.type()), to_string(input.shape()));
    if (is_known(i, input))
      key.append(weft::as_text(input.bytes()));
    else if (input.type() == ElementType::i64)
      key += weft::format("{};", widened_range(input)->high);
  }
  return key;
}

Result<> InputRules::check_buffers(std::span<const Tensor> inputs,
                                   std::span<const gpu::Buffer* const> buffers) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph_.inputs[i].name;
    if (buffers[i] == nullptr) {
      if (!inputs[i].has_bytes())
        return fail(ErrorCode::invalid_argument, "The input '{}' has no values.", name);
      continue;
    }
    if (telling_[i] || inputs[i].type() == ElementType::i64)
      return fail(ErrorCode::unsupported,
                  "The values of the input '{}' decide how the model is bound, so they cannot be "
                  "only on the GPU; give them as bytes.",
                  name);
    if (const auto bytes = static_cast<std::uint64_t>(inputs[i].count()) * 4;
        buffers[i]->size() < bytes)
      return fail(ErrorCode::invalid_argument,
                  "The buffer of the input '{}' has {} bytes; shape {} takes {}.", name,
                  buffers[i]->size(), to_string(inputs[i].shape()), bytes);
  }
  return {};
}

}  // namespace weft::onnx
