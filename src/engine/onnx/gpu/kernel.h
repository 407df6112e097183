// What a node becomes on a GPU: WGSL, what it reads and writes, and how many workgroups.
//
// On a GPU every element takes four bytes: floats are f32, signed integers i32, unsigned ones and
// truth values u32 (stored_kernel.h stores floats in two). i64 is there only where its values are
// proven to fit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/onnx/operators/call.h"
#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

class ConvolutionChoices;

// A buffer that a kernel reads: a value of the graph, or data made for the kernel (weights in
// another order, taps of a resize).
struct KernelInput {
  ValueId value = no_value;
  std::shared_ptr<const std::vector<std::uint32_t>> data = nullptr;
};

// What a kernel's text consists of, for a text that holds several kernels.
struct KernelParts {
  std::vector<std::string> input_types;  // WGSL, by binding.
  std::vector<std::string> output_types;
  std::vector<std::string> helpers;
  std::string declarations;  // What a workgroup shares.
  std::string body;          // For a workgroup `group` of `groups` and a thread `lane` below 64.
  std::uint64_t groups = 0;
};

struct Kernel {
  std::string label;
  std::string wgsl;
  std::vector<KernelInput> inputs;  // Bindings 0, 1, ...
  std::vector<ValueId> outputs;     // The bindings after them.
  gpu::Workgroups workgroups;
  std::shared_ptr<const KernelParts> parts = nullptr;
};

// So many workgroups, in two dimensions where one does not hold them.
[[nodiscard]] gpu::Workgroups workgroups_for(std::uint64_t count);

// "f32", "i32" or "u32".
[[nodiscard]] std::string_view storage_type(ElementType type);
// A tensor's elements as they lie on a GPU; nullopt if an i64 does not fit into i32.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> storage_of(const Tensor& tensor);
// The reverse; `words` are as many as the shape has elements. f16 is rounded to the nearest.
[[nodiscard]] Result<Tensor> tensor_of(ElementType type, Shape shape,
                                       std::span<const std::uint32_t> words);

// The text of a kernel with one thread per element of its (first) output, put together from parts.
class KernelText {
 public:
  // Adds an input binding and gives its name: a0, a1, ... The same input is bound once
  // for each type that it is read as.
  std::string input(const KernelInput& input, ElementType type) {
    return this->input(input, storage_type(type));
  }
  // With elements of a type of WGSL's.
  std::string input(const KernelInput& input, std::string_view element);
  std::string input(ValueId value, ElementType type) {
    return this->input(KernelInput{.value = value}, type);
  }
  // Adds an output binding: y0, y1, ...
  std::string output(ValueId value, ElementType type) { return output(value, storage_type(type)); }
  std::string output(ValueId value, std::string_view element);
  // A function that the body calls, once.
  void helper(std::string_view text);
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }

  // `body` runs for each i below `threads`.
  [[nodiscard]] Kernel build(std::string label, std::uint64_t threads, std::string_view body) const;
  // The same, where a workgroup goes over `rounds` times 64 neighbours, one after the other, so
  // that what they read in common is near. `body` does not return.
  [[nodiscard]] Kernel build_runs(std::string label, std::uint64_t count, std::uint64_t rounds,
                                  std::string_view body) const;
  // `body` runs for each workgroup `group` below `groups`, with `lane` below 64.
  [[nodiscard]] Kernel build_groups(std::string label, std::uint64_t groups,
                                    std::string_view declarations, std::string_view body) const;

 private:
  [[nodiscard]] std::string bindings() const;
  [[nodiscard]] std::shared_ptr<const KernelParts> parts(std::uint64_t groups,
                                                         std::string_view declarations,
                                                         std::string body) const;
  std::vector<KernelInput> inputs_;
  std::vector<std::string> input_types_;
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_types_;
  std::vector<std::string> helpers_;
};

// An index expression: the element of a tensor with `strides` that stands at element `index` (an
// expression) of `shape`, plus `start`. 32-bit; shapes of over 2^31 elements are not for a GPU.
[[nodiscard]] std::string strided_index(std::string_view index, const Shape& shape,
                                        const Shape& strides, std::int64_t start = 0);

// What a kernel appends to each element that it computes: a chain of elementwise nodes fused into
// it. `value` and `index` are names; gives statements and the name of the result.
struct Epilogue {
  std::vector<const Node*> nodes;  // In order. Empty: none.
};

// The world that kernels are made in: the graph and what was inferred of it.
struct KernelContext {
  const Graph& graph;
  const Inference& inference;
  const ConvolutionChoices* choices = nullptr;  // What was measured on the device, if anything.
  bool halves = false;                          // Kernels will be changed by stored_kernel.h.
  [[nodiscard]] const Tensor& tensor(ValueId id) const { return *inference.values[id]; }
  [[nodiscard]] const Tensor* optional_tensor(const Node& node, std::size_t input) const {
    return input < node.inputs.size() && node.inputs[input] != no_value
               ? &tensor(node.inputs[input])
               : nullptr;
  }
};

// A node's call for shapes: what the planning functions of engine/onnx/operators take.
class CallOf {
 public:
  CallOf(const KernelContext& context, const Node& node)
      : inputs_(inputs_of(context, node)),
        call_(node, inputs_, {.opset = context.graph.opset, .shapes_only = true}) {}
  [[nodiscard]] const Call& operator*() const { return call_; }
  [[nodiscard]] const Call* operator->() const { return &call_; }

 private:
  static std::vector<const Tensor*> inputs_of(const KernelContext& context, const Node& node) {
    std::vector<const Tensor*> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      inputs.push_back(context.optional_tensor(node, i));
    return inputs;
  }
  std::vector<const Tensor*> inputs_;
  Call call_;
};

// Statements that compute `node`'s chain from the value named `value` at output element `index`;
// gives the name of the last result.
[[nodiscard]] std::optional<std::string> apply_chain(const KernelContext& context,
                                                     const Epilogue& epilogue, ValueId first,
                                                     std::string_view value, std::string_view index,
                                                     KernelText& text, std::string& statements);

// True if a node computes each element of its one output from the same places of its inputs.
[[nodiscard]] bool is_elementwise(const KernelContext& context, const Node& node);

// The kernels of a node with what is fused behind it; nullopt if it has none (then the processor
// computes it).
[[nodiscard]] std::optional<std::vector<Kernel>> make_kernels(const KernelContext& context,
                                                              const Node& node,
                                                              const Epilogue& epilogue);

// The families.
using MaybeKernels = std::optional<std::vector<Kernel>>;
[[nodiscard]] MaybeKernels elementwise_kernels(const KernelContext& context, const Node& node,
                                               const Epilogue& epilogue);
[[nodiscard]] MaybeKernels movement_kernels(const KernelContext& context, const Node& node);
// Copies of a Concat's inputs to their places in its result, but for those that are there already.
[[nodiscard]] std::vector<Kernel> concat_copies(const KernelContext& context, const Node& node,
                                                const std::vector<bool>& left_out);
[[nodiscard]] MaybeKernels window_kernels(const KernelContext& context, const Node& node,
                                          const Epilogue& epilogue);
[[nodiscard]] MaybeKernels row_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels product_kernels(const KernelContext& context, const Node& node,
                                           const Epilogue& epilogue);
[[nodiscard]] MaybeKernels attention_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels generator_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels pooling_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels quantised_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels reduction_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels scatter_kernels(const KernelContext& context, const Node& node);
[[nodiscard]] MaybeKernels selection_kernels(const KernelContext& context, const Node& node);

}  // namespace weft::onnx
