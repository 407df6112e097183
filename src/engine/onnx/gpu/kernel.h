// The kernels that compute a node on a GPU: WGSL, the values that they read and write, and the
// number of workgroups.
//
// On a GPU every element takes four bytes: floats are f32, signed integers i32, unsigned integers
// and truth values u32. (stored_kernel.h stores floats in two bytes.) An i64 value is on a GPU only
// if all of its elements are proven to fit into an i32.
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
struct MatrixUnit;

// A buffer that a kernel reads: a value of the graph, or data made for the kernel (weights in
// another order, taps of a resize).
struct KernelInput {
  ValueId value = no_value;
  std::shared_ptr<const std::vector<std::uint32_t>> data = nullptr;
};

// The threads of a workgroup.
struct Team {
  std::uint32_t threads = 64;
  // True if the body computes with subgroup matrices. It may then also use `subgroup` (the number
  // of a thread's subgroup) and `none` (a zero that the compiler cannot know).
  bool matrices = false;
  friend bool operator==(const Team&, const Team&) = default;
};

// The parts of a kernel's text, from which a text with several kernels can be made.
struct KernelParts {
  std::vector<std::string> input_types;  // WGSL types, by binding.
  std::vector<std::string> output_types;
  std::vector<std::string> helpers;
  std::string declarations;  // The memory of a workgroup.
  std::string body;          // Uses `group` (of `groups`) and `lane` (below `team.threads`).
  std::uint64_t groups = 0;
  Team team;
};

struct Kernel {
  std::string label;
  std::string wgsl;
  std::vector<KernelInput> inputs;  // Inputs at bindings 0, 1, ...
  std::vector<ValueId> outputs;     // Outputs at the bindings after the inputs.
  gpu::Workgroups workgroups;
  std::shared_ptr<const KernelParts> parts = nullptr;
};

// Returns a grid of `count` workgroups, which has two dimensions if one dimension cannot hold them.
[[nodiscard]] gpu::Workgroups workgroups_for(std::uint64_t count);

// Returns the WGSL type of an element on a GPU: "f32", "i32" or "u32".
[[nodiscard]] std::string_view storage_type(ElementType type);
// Returns a tensor's elements as they are stored on a GPU, or nullopt if an i64 does not fit into
// an i32.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> storage_of(const Tensor& tensor);
// Makes a tensor from elements as they are stored on a GPU. `words` has one word for each element
// of the shape; an f16 is rounded to the nearest.
[[nodiscard]] Result<Tensor> tensor_of(ElementType type, Shape shape,
                                       std::span<const std::uint32_t> words);

// The text of a kernel with one thread per element of its (first) output, put together from parts.
class KernelText {
 public:
  // Adds an input binding and returns its name: a0, a1, ... An input is bound once for each type as
  // which it is read.
  std::string input(const KernelInput& input, ElementType type) {
    return this->input(input, storage_type(type));
  }
  // Adds an input binding whose elements have the WGSL type `element`, and returns its name.
  std::string input(const KernelInput& input, std::string_view element);
  std::string input(ValueId value, ElementType type) {
    return this->input(KernelInput{.value = value}, type);
  }
  // Adds an output binding and returns its name: y0, y1, ...
  std::string output(ValueId value, ElementType type) { return output(value, storage_type(type)); }
  std::string output(ValueId value, std::string_view element);
  // Adds a function that the body calls. The same text is added only once.
  void helper(std::string_view text);
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  // Sets the threads of the kernels that build_groups() builds.
  void set_team(Team team) { team_ = team; }

  // Builds a kernel that runs `body` for each i below `threads`.
  [[nodiscard]] Kernel build(std::string label, std::uint64_t threads, std::string_view body) const;
  // Builds a kernel that runs `body` for each i below `count`. A workgroup computes `rounds` times
  // 64 neighbours, one group of 64 after another, so that neighbours read the same data from the
  // cache. `body` must not return.
  [[nodiscard]] Kernel build_runs(std::string label, std::uint64_t count, std::uint64_t rounds,
                                  std::string_view body) const;
  // Builds a kernel that runs `body` for each workgroup `group` below `groups`, with `lane` below
  // the number of threads.
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
  Team team_;
};

// Returns an expression for the index of a tensor's element: `index` (an expression) counts the
// elements of `shape`, `strides` are those of the tensor, and `start` is added. The index has 32
// bits, so a shape with more than 2^31 elements cannot be on a GPU.
[[nodiscard]] std::string strided_index(std::string_view index, const Shape& shape,
                                        const Shape& strides, std::int64_t start = 0);

// A chain of elementwise nodes that is fused into a kernel and applied to each element that the
// kernel computes.
struct Epilogue {
  std::vector<const Node*> nodes;  // The nodes in order; empty if none is fused.
};

// The input of the functions that make kernels: the graph, its inferred values and the settings.
struct KernelContext {
  const Graph& graph;
  const Inference& inference;
  const ConvolutionChoices* choices = nullptr;  // Measured on the device; may be null.
  bool halves = false;                          // True if stored_kernel.h will change the kernels.
  const MatrixUnit* matrices = nullptr;  // The subgroup matrices that kernels may use; may be null.
  [[nodiscard]] const Tensor& tensor(ValueId id) const { return *inference.values[id]; }
  [[nodiscard]] const Tensor* optional_tensor(const Node& node, std::size_t input) const {
    return input < node.inputs.size() && node.inputs[input] != no_value
               ? &tensor(node.inputs[input])
               : nullptr;
  }
};

// A shapes-only Call of a node, for the planning functions of engine/onnx/operators.
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

// Adds statements that apply the nodes of `epilogue` to the value named `value` at the output
// element `index`. Returns the name of the last result.
[[nodiscard]] std::optional<std::string> apply_chain(const KernelContext& context,
                                                     const Epilogue& epilogue, ValueId first,
                                                     std::string_view value, std::string_view index,
                                                     KernelText& text, std::string& statements);

// True if a node has one output and computes each element from the elements at the same position of
// its inputs.
[[nodiscard]] bool is_elementwise(const KernelContext& context, const Node& node);

// Returns the kernels of a node and its fused nodes, or nullopt if the node has no kernel; the
// processor then computes it.
[[nodiscard]] std::optional<std::vector<Kernel>> make_kernels(const KernelContext& context,
                                                              const Node& node,
                                                              const Epilogue& epilogue);

// The functions that make the kernels of each family of operators.
using MaybeKernels = std::optional<std::vector<Kernel>>;
[[nodiscard]] MaybeKernels elementwise_kernels(const KernelContext& context, const Node& node,
                                               const Epilogue& epilogue);
[[nodiscard]] MaybeKernels movement_kernels(const KernelContext& context, const Node& node);
// Returns kernels that copy a Concat's inputs to their positions in its result. Inputs in
// `left_out` are not copied because they are already at their positions.
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
