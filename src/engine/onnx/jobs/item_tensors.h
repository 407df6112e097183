// Converts between the stacks of an onnx job and the tensors of its model. A stack holds one tensor
// for each item along its outermost dimension. The rest of the stack's shape is the shape of the
// model's tensor, with or without a leading dimension of 1 (the batch of the model). Integer types
// that jobs do not have become others in a stack: i64 and i16 become i32, and u16, u8 and bool
// become u32.
//
// Lifetime: an ItemTensors keeps no reference to the graph or the manifest. Threading: none of its
// own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/manifest/manifest.h"
#include "engine/onnx/graph.h"

namespace weft::onnx {

// Returns the element type that a job has for an element type of the model.
[[nodiscard]] manifest::ElementType job_type(ElementType of_model);
// Appends a tensor's elements to a stack in the job's element type. Fails with unsupported for an
// i64 that does not fit into an i32; the message begins with `what`.
[[nodiscard]] Result<> append_to_stack(ByteVector& stack, const Tensor& tensor,
                                       std::string_view what);
// Makes a tensor of the model from bytes of a stack. Elements are cut to the model's type; every
// value other than 0 becomes true.
[[nodiscard]] Result<Tensor> from_stack(ByteSpan bytes, ElementType type, const Shape& shape);

class ItemTensors {
 public:
  // Fails with invalid_argument if the model's inputs or outputs are not those of the job; the
  // message names the input or output.
  [[nodiscard]] static Result<ItemTensors> create(const Graph& graph,
                                                  const manifest::Manifest& manifest);

  // Returns the model's inputs for one item, in the graph's order. `data` is exec::Job::data.
  [[nodiscard]] Result<std::vector<Tensor>> inputs(std::span<const ByteVector> data,
                                                   std::uint32_t item) const;
  // Returns the types and shapes of the tensors that inputs() returns, as tensors without bytes.
  [[nodiscard]] const std::vector<Tensor>& input_shapes() const { return shapes_; }

  // Appends the results of one item to the job's outputs, which are output_count() in number. Fails
  // with invalid_argument if the size of a result is not the size that the job gives, and with
  // unsupported if an i64 value does not fit into an i32.
  [[nodiscard]] Result<> append_outputs(std::span<const Tensor> results,
                                        std::span<ByteVector> outputs) const;
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }

 private:
  struct Input {
    std::size_t binding = 0;       // The index into Manifest::bindings.
    std::uint64_t item_bytes = 0;  // Bytes of an item in the stack.
  };
  struct Output {
    std::string name;
    std::size_t result = 0;  // The index into Graph::outputs.
    std::int64_t item_elements = 0;
    ElementType type = ElementType::f32;
  };
  std::vector<Input> inputs_;  // The inputs in the graph's order.
  std::vector<Tensor> shapes_;
  std::vector<Output> outputs_;  // The outputs in the job's order.
};

}  // namespace weft::onnx
