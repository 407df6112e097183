#include "engine/onnx/gpu/kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace weft::onnx {
namespace {

constexpr std::uint32_t threads_of_group = Team{}.threads;
constexpr std::uint64_t groups_of_side_max = 65535;
constexpr std::string_view matrix_directives =
    "enable f16;\nenable subgroups;\nenable chromium_experimental_subgroup_matrix;\n"
    "diagnostic(off, chromium.subgroup_matrix_uniformity);\n"
    "diagnostic(off, subgroup_uniformity);\n";

}  // namespace

gpu::Workgroups workgroups_for(std::uint64_t count) {
  if (count <= groups_of_side_max) return {.x = static_cast<std::uint32_t>(count)};
  const std::uint64_t y = (count + groups_of_side_max - 1) / groups_of_side_max;
  return {.x = static_cast<std::uint32_t>((count + y - 1) / y), .y = static_cast<std::uint32_t>(y)};
}

std::string_view storage_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::f16:
      return "f32";
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::i32:
    case ElementType::i64:
      return "i32";
    default:
      return "u32";
  }
}

std::optional<std::vector<std::uint32_t>> storage_of(const Tensor& tensor) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(tensor.count()));
  bool fits = true;
  with_type(tensor.type(), [&]<class T>() {
    const auto values = tensor.values<T>();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if constexpr (std::is_same_v<T, float>) {
        words[i] = std::bit_cast<std::uint32_t>(values[i]);
      } else if constexpr (std::is_same_v<T, Half>) {
        words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(values[i]));
      } else if constexpr (std::is_same_v<T, Truth>) {
        words[i] = values[i].bits;
      } else if constexpr (std::is_signed_v<T>) {
        fits = fits && values[i] >= std::numeric_limits<std::int32_t>::min() &&
               values[i] <= std::numeric_limits<std::int32_t>::max();
        words[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(values[i]));
      } else {
        words[i] = values[i];
      }
    }
  });
  if (!fits) return std::nullopt;
  return words;
}

Result<Tensor> tensor_of(ElementType type, Shape shape, std::span<const std::uint32_t> words) {
  WEFT_ASSIGN(Tensor tensor, Tensor::create(type, std::move(shape)));
  with_type(type, [&]<class T>() {
    const auto values = tensor.mutable_values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, Half>)
        values[i] = static_cast<T>(std::bit_cast<float>(words[i]));
      else if constexpr (std::is_same_v<T, Truth>)
        values[i] = Truth(words[i] != 0);
      else if constexpr (std::is_signed_v<T>)
        values[i] = static_cast<T>(static_cast<std::int32_t>(words[i]));
      else
        values[i] = static_cast<T>(words[i]);
    }
  });
  return tensor;
}

std::string KernelText::input(const KernelInput& input, std::string_view element) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].value == input.value && inputs_[i].data == input.data &&
        input_types_[i] == element)
      return weft::format("a{}", i);
  inputs_.push_back(input);
  input_types_.emplace_back(element);
  return weft::format("a{}", inputs_.size() - 1);
}

std::string KernelText::output(ValueId value, std::string_view element) {
  outputs_.push_back(value);
  output_types_.emplace_back(element);
  return weft::format("y{}", outputs_.size() - 1);
}

void KernelText::helper(std::string_view text) {
  if (!std::ranges::contains(helpers_, text)) helpers_.emplace_back(text);
}

std::string KernelText::bindings() const {
  std::string out;
  std::size_t binding = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    out += weft::format("@group(0) @binding({}) var<storage, read> a{}: array<{}>;\n", binding++, i,
                        input_types_[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    out += weft::format("@group(0) @binding({}) var<storage, read_write> y{}: array<{}>;\n",
                        binding++, i, output_types_[i]);
  for (const std::string& helper : helpers_) out += helper;
  return out;
}

std::shared_ptr<const KernelParts> KernelText::parts(std::uint64_t groups,
                                                     std::string_view declarations,
                                                     std::string body) const {
  return std::make_shared<const KernelParts>(KernelParts{.input_types = input_types_,
                                                         .output_types = output_types_,
                                                         .helpers = helpers_,
                                                         .declarations = std::string(declarations),
                                                         .body = std::move(body),
                                                         .groups = groups,
                                                         .team = team_});
}

Kernel KernelText::build(std::string label, std::uint64_t threads, std::string_view body) const {
  const std::uint64_t needed = (threads + threads_of_group - 1) / threads_of_group;
  Kernel kernel{.label = std::move(label),
                .wgsl = {},
                .inputs = inputs_,
                .outputs = outputs_,
                .workgroups = workgroups_for(needed),
                .parts = parts(needed, "",
                               weft::format("  let i = group * {}u + lane;\n"
                                            "  if (i >= {}u) {{ return; }}\n{}",
                                            threads_of_group, threads, body))};
  kernel.wgsl =
      bindings() + weft::format(
                       "@compute @workgroup_size({})\nfn main(@builtin(global_invocation_id) "
                       "id: vec3u, @builtin(num_workgroups) groups: vec3u) {{\n"
                       "  let i = id.x + id.y * groups.x * {}u;\n"
                       "  if (i >= {}u) {{ return; }}\n",
                       threads_of_group, threads_of_group, threads);
  kernel.wgsl.append(body).append("}\n");
  return kernel;
}

Kernel KernelText::build_runs(std::string label, std::uint64_t count, std::uint64_t rounds,
                              std::string_view body) const {
  const std::uint64_t run = rounds * threads_of_group;
  std::string loop = weft::format(
      "  for (var k = 0u; k < {}u; k++) {{\n  let i = (group * {}u + k) * {}u + lane;\n"
      "  if (i >= {}u) {{ return; }}\n",
      rounds, rounds, threads_of_group, count);
  loop.append(body).append("  }\n");
  return build_groups(std::move(label), (count + run - 1) / run, "", loop);
}

Kernel KernelText::build_groups(std::string label, std::uint64_t groups,
                                std::string_view declarations, std::string_view body) const {
  Kernel kernel{.label = std::move(label),
                .wgsl = {},
                .inputs = inputs_,
                .outputs = outputs_,
                .workgroups = workgroups_for(groups),
                .parts = parts(groups, declarations, std::string(body))};
  if (team_.matrices) kernel.wgsl = matrix_directives;
  kernel.wgsl += bindings();
  kernel.wgsl.append(declarations);
  kernel.wgsl += weft::format(
      "@compute @workgroup_size({})\nfn main(@builtin(workgroup_id) id: vec3u, "
      "@builtin(local_invocation_index) lane: u32, @builtin(num_workgroups) groups: vec3u{}) {{\n"
      "  let group = id.x + id.y * groups.x;\n{}"
      "  if (group >= {}u) {{ return; }}\n",
      team_.threads, team_.matrices ? ", @builtin(subgroup_id) subgroup: u32" : "",
      team_.matrices ? "  let none = groups.x >> 24u;\n" : "", groups);
  kernel.wgsl.append(body).append("}\n");
  return kernel;
}

std::string strided_index(std::string_view index, const Shape& shape, const Shape& strides,
                          std::int64_t start) {
  // Neighbouring dimensions are merged into one if a single stride steps through both.
  Shape sizes, steps;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const bool joins = !sizes.empty() && steps.back() == strides[d] * shape[d];
    if (joins) {
      sizes.back() *= shape[d];
      steps.back() = strides[d];
    } else {
      sizes.push_back(shape[d]);
      steps.push_back(strides[d]);
    }
  }
  const Shape outer = row_major_strides(sizes);
  // The index is signed if a stride is negative, as in slices.
  bool is_signed = start < 0;
  for (const std::int64_t step : steps) is_signed = is_signed || step < 0;
  std::string text;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (steps[d] == 0) continue;
    std::string part(index);
    if (outer[d] != 1) part = weft::format("{} / {}u", part, outer[d]);
    if (d > 0) part = weft::format("({}) % {}u", part, sizes[d]);
    if (is_signed) part = weft::format("i32({})", part);
    if (steps[d] != 1)
      part = is_signed ? weft::format("({}) * {}", part, steps[d])
                       : weft::format("({}) * {}u", part, steps[d]);
    text.append(text.empty() ? "" : " + ").append(part);
  }
  if (start != 0 || text.empty()) {
    text.append(text.empty() ? "" : " + ");
    text += is_signed ? std::to_string(start) : std::to_string(start) + "u";
  }
  return is_signed ? weft::format("u32({})", text) : weft::format("({})", text);
}

MaybeKernels make_kernels(const KernelContext& context, const Node& node,
                          const Epilogue& epilogue) {
  if (is_elementwise(context, node)) return elementwise_kernels(context, node, epilogue);
  if (auto kernels = window_kernels(context, node, epilogue)) return kernels;
  if (auto kernels = product_kernels(context, node, epilogue)) return kernels;
  if (!epilogue.nodes.empty()) return std::nullopt;
  for (const auto family :
       {row_kernels, reduction_kernels, pooling_kernels, attention_kernels, quantised_kernels,
        scatter_kernels, selection_kernels, generator_kernels})
    if (auto kernels = family(context, node)) return kernels;
  return movement_kernels(context, node);
}

}  // namespace weft::onnx
