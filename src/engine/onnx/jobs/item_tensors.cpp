#include "engine/onnx/jobs/item_tensors.h"

#include <algorithm>
#include <limits>

#include "common/base/byte_reader.h"
#include "common/base/format.h"
#include "engine/onnx/operators/infer.h"

namespace weft::onnx {
namespace {

using manifest::Binding;

Result<> check_type(std::string_view what, const std::string& name, ElementType of_model,
                    manifest::ElementType of_job) {
  const manifest::ElementType wanted = job_type(of_model);
  if (of_job == wanted) return {};
  const bool same = manifest::to_string(wanted) == to_string(of_model);
  return fail(ErrorCode::invalid_argument,
              "The job's {} '{}' is of the type {}; the model's is {}{}.", what, name,
              manifest::to_string(of_job), to_string(of_model),
              same ? "" : weft::format(", which a job has as {}", manifest::to_string(wanted)));
}

// The shape of the tensor for one item: the shape of the stack without its outermost dimension. A
// batch of one is added before it if the model's input has one dimension more.
Result<Shape> item_shape(const Binding& stack, const ValueInfo& input) {
  Shape shape;
  for (std::size_t d = 1; d < stack.shape.size(); ++d)
    shape.push_back(static_cast<std::int64_t>(stack.shape[d]));
  if (!input.shape || input.shape->size() == shape.size() + 1) shape.insert(shape.begin(), 1);
  const auto fits = [&] {
    if (!input.shape) return true;
    if (input.shape->size() != shape.size()) return false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (const auto& size = (*input.shape)[d].size; size && *size != shape[d]) return false;
    }
    return true;
  };
  if (fits()) return shape;
  Shape of_model;
  for (const Dimension& dimension : *input.shape) of_model.push_back(dimension.size.value_or(-1));
  return fail(ErrorCode::invalid_argument,
              "The job's input '{}' gives {} for an item; the model takes {} (-1 is any size).",
              input.name, to_string(shape), to_string(of_model));
}

const Binding* find(const manifest::Manifest& manifest, const std::string& name, bool is_output) {
  const auto found = std::ranges::find_if(manifest.bindings, [&](const Binding& each) {
    return each.name == name && each.is_output() == is_output;
  });
  return found == manifest.bindings.end() ? nullptr : &*found;
}

// True if an element of the type `type` has other bytes in a job than in the model.
bool is_converted(ElementType type) {
  return element_bytes(type) != manifest::bytes_per_element(job_type(type));
}

}  // namespace

manifest::ElementType job_type(ElementType of_model) {
  switch (of_model) {
    case ElementType::f32:
      return manifest::ElementType::f32;
    case ElementType::f16:
      return manifest::ElementType::f16;
    case ElementType::i8:
      return manifest::ElementType::i8;
    case ElementType::u8:
    case ElementType::u16:
    case ElementType::u32:
    case ElementType::boolean:
      return manifest::ElementType::u32;
    case ElementType::i16:
    case ElementType::i32:
    case ElementType::i64:
      break;
  }
  return manifest::ElementType::i32;
}

Result<> append_to_stack(ByteVector& stack, const Tensor& tensor, std::string_view what) {
  if (!is_converted(tensor.type())) {
    append(stack, tensor.bytes());
    return {};
  }
  for (const std::int64_t value : tensor.integers()) {
    if (value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max())
      return fail(ErrorCode::unsupported, "{} has the value {}, which is not an i32.", what, value);
    append_le(stack, static_cast<std::uint32_t>(value));
  }
  return {};
}

Result<Tensor> from_stack(ByteSpan bytes, ElementType type, const Shape& shape) {
  if (!is_converted(type))
    return Tensor::from_bytes(type, shape, ByteVector(bytes.begin(), bytes.end()));
  ByteVector own;
  own.reserve(bytes.size() / sizeof(std::uint32_t) * element_bytes(type));
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= bytes.size();
       at += sizeof(std::uint32_t)) {
    std::int64_t value = static_cast<std::int32_t>(read_le<std::uint32_t>(bytes, at));
    if (type == ElementType::boolean) value = value != 0 ? 1 : 0;
    for (std::size_t i = 0; i < element_bytes(type); ++i)
      own.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  return Tensor::from_bytes(type, shape, std::move(own));
}

Result<ItemTensors> ItemTensors::create(const Graph& graph, const manifest::Manifest& manifest) {
  ItemTensors tensors;
  for (const ValueInfo& input : graph.inputs) {
    const Binding* const stack = find(manifest, input.name, false);
    if (stack == nullptr)
      return fail(ErrorCode::invalid_argument, "The job does not give the model's input '{}'.",
                  input.name);
    WEFT_OK(check_type("input", input.name, input.type, stack->type));
    WEFT_ASSIGN(Shape shape, item_shape(*stack, input));
    WEFT_ASSIGN(Tensor tensor, Tensor::shape_only(input.type, std::move(shape)));
    tensors.shapes_.push_back(std::move(tensor));
    tensors.inputs_.push_back(
        {.binding = static_cast<std::size_t>(stack - manifest.bindings.data()),
         .item_bytes = stack->bytes() / manifest.onnx.items});
  }
  for (const Binding& binding : manifest.bindings) {
    if (binding.is_output() || binding.name.empty()) continue;
    if (!std::ranges::contains(graph.inputs, binding.name, &ValueInfo::name))
      return fail(ErrorCode::invalid_argument, "The model has no input '{}'.", binding.name);
  }
  auto inferred = infer(graph, tensors.shapes_);
  if (!inferred) return pass(std::move(inferred), "while looking at the shapes of one item");
  for (const Binding& binding : manifest.bindings) {
    if (!binding.is_output()) continue;
    const auto place =
        std::ranges::find(graph.outputs, binding.name, [&](ValueId id) { return graph.name(id); });
    if (place == graph.outputs.end())
      return fail(ErrorCode::invalid_argument, "The model has no output '{}'.", binding.name);
    const auto elements = static_cast<std::int64_t>(binding.elements() / manifest.onnx.items);
    ElementType type = ElementType::f32;
    if (const auto& value = inferred->values[*place]) {
      type = value->type();
      WEFT_OK(check_type("output", binding.name, type, binding.type));
      if (value->count() != elements) {
        return fail(ErrorCode::invalid_argument,
                    "The model gives {} for the output '{}' of an item, {} elements; the job says "
                    "{}.",
                    to_string(value->shape()), binding.name, value->count(), elements);
      }
    } else {
      return fail(ErrorCode::unsupported,
                  "The size of the model's output '{}' depends on the computed values; an output "
                  "of a job must have a fixed size.",
                  binding.name);
    }
    tensors.outputs_.push_back({.name = binding.name,
                                .result = static_cast<std::size_t>(place - graph.outputs.begin()),
                                .item_elements = elements,
                                .type = type});
  }
  return tensors;
}

Result<std::vector<Tensor>> ItemTensors::inputs(std::span<const ByteVector> data,
                                                std::uint32_t item) const {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ByteSpan bytes =
        ByteSpan(data[inputs_[i].binding])
            .subspan(item * inputs_[i].item_bytes, static_cast<std::size_t>(inputs_[i].item_bytes));
    WEFT_ASSIGN(Tensor tensor, from_stack(bytes, shapes_[i].type(), shapes_[i].shape()));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<> ItemTensors::append_outputs(std::span<const Tensor> results,
                                     std::span<ByteVector> outputs) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    const Tensor& result = results[output.result];
    if (result.count() != output.item_elements || result.type() != output.type) {
      return fail(ErrorCode::invalid_argument,
                  "The model gave {} {} for the output '{}'; the job says {} elements.",
                  to_string(result.type()), to_string(result.shape()), output.name,
                  output.item_elements);
    }
    WEFT_OK(append_to_stack(outputs[i], result, weft::format("The output '{}'", output.name)));
  }
  return {};
}

}  // namespace weft::onnx
