#include "engine/onnx/jobs/item_tensors.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/base/byte_reader.h"
#include "common/base/format.h"
#include "engine/onnx/operators/infer.h"

namespace weft::onnx {
namespace {

using manifest::Binding;

// The job's type for a value of the model; an i64 travels as an i32.
Result<> check_type(std::string_view what, const std::string& name, ElementType of_model,
                    manifest::ElementType of_job) {
  const auto named = to_string(of_model);
  static constexpr std::array known = {ElementType::f32, ElementType::f16, ElementType::i32,
                                       ElementType::u32, ElementType::i8,  ElementType::i64};
  if (!std::ranges::contains(known, of_model)) {
    return fail(ErrorCode::unsupported,
                "The model's {} '{}' is of the type {}; jobs have f32, f16, i32, u32, i8, and i64 "
                "as i32.",
                what, name, named);
  }
  const std::string_view wanted = of_model == ElementType::i64 ? "i32" : named;
  if (manifest::to_string(of_job) == wanted) return {};
  return fail(ErrorCode::invalid_argument,
              "The job's {} '{}' is of the type {}; the model's is {}{}.", what, name,
              manifest::to_string(of_job), named,
              of_model == ElementType::i64 ? ", which a job has as i32" : "");
}

// The shape of one item's tensor: the stack's without its outermost dimension, with a batch of one
// before it if the model has one dimension more.
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

// Integers of a job, as the model takes them.
ByteVector widened(ByteSpan bytes) {
  ByteVector out;
  out.reserve(2 * bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int32_t)) {
    const auto value = static_cast<std::int32_t>(read_le<std::uint32_t>(bytes, at));
    append_le(out, static_cast<std::uint64_t>(std::int64_t{value}));
  }
  return out;
}

}  // namespace

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
                  "The size of the model's output '{}' depends on what is computed; an output of a "
                  "job has one size.",
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
    ByteVector own = shapes_[i].type() == ElementType::i64 ? widened(bytes)
                                                           : ByteVector(bytes.begin(), bytes.end());
    WEFT_ASSIGN(Tensor tensor,
                Tensor::from_bytes(shapes_[i].type(), shapes_[i].shape(), std::move(own)));
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
    if (output.type != ElementType::i64) {
      append(outputs[i], result.bytes());
      continue;
    }
    for (const std::int64_t value : result.values<std::int64_t>()) {
      if (value < std::numeric_limits<std::int32_t>::min() ||
          value > std::numeric_limits<std::int32_t>::max())
        return fail(ErrorCode::unsupported,
                    "The output '{}' has the value {}, which is not an i32.", output.name, value);
      append_le(outputs[i], static_cast<std::uint32_t>(value));
    }
  }
  return {};
}

}  // namespace weft::onnx
