// Between the stacks of an onnx job and the tensors of its model. A stack holds one tensor for each
// item along its outermost dimension; the rest of its shape is the tensor's, with or without a
// leading dimension of 1 (a model's batch). Integers that jobs do not have are wider or narrower
// there: i64 and i16 are i32, u16, u8 and bool are u32.
//
// Lifetime: of the graph and the manifest nothing is kept. Threading: none of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/manifest/manifest.h"
#include "engine/onnx/graph.h"

namespace weft::onnx {

// The job's type for one of the model.
[[nodiscard]] manifest::ElementType job_type(ElementType of_model);
// Appends a tensor's elements as a job has them; unsupported for an i64 that is no i32, with
// `what` before its value.
[[nodiscard]] Result<> append_to_stack(ByteVector& stack, const Tensor& tensor,
                                       std::string_view what);
// The reverse. Elements are cut to the model's type; a truth value is anything but 0.
[[nodiscard]] Result<Tensor> from_stack(ByteSpan bytes, ElementType type, const Shape& shape);

class ItemTensors {
 public:
  // invalid_argument if the model's inputs or outputs are not those of the job, with one sentence
  // that names the value.
  [[nodiscard]] static Result<ItemTensors> create(const Graph& graph,
                                                  const manifest::Manifest& manifest);

  // The model's inputs for one item, in the graph's order. `data` is exec::Job::data.
  [[nodiscard]] Result<std::vector<Tensor>> inputs(std::span<const ByteVector> data,
                                                   std::uint32_t item) const;
  // The same as inputs(), by type and shape only.
  [[nodiscard]] const std::vector<Tensor>& input_shapes() const { return shapes_; }

  // Appends one item's results to the job's outputs, of which there are output_count().
  // invalid_argument if the size of a result is not the size that the job says; unsupported if an
  // i64 value does not fit into an i32.
  [[nodiscard]] Result<> append_outputs(std::span<const Tensor> results,
                                        std::span<ByteVector> outputs) const;
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }

 private:
  struct Input {
    std::size_t binding = 0;       // Its place in Manifest::bindings.
    std::uint64_t item_bytes = 0;  // In the stack.
  };
  struct Output {
    std::string name;
    std::size_t result = 0;  // Its place in Graph::outputs.
    std::int64_t item_elements = 0;
    ElementType type = ElementType::f32;
  };
  std::vector<Input> inputs_;  // In the graph's order.
  std::vector<Tensor> shapes_;
  std::vector<Output> outputs_;  // In the job's order.
};

}  // namespace weft::onnx
