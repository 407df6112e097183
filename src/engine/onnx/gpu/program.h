// A graph compiled for fixed shapes as plain data, for any device and any program that uses WebGPU:
// WGSL modules, buffers, steps, and one blob of weights.
//
// To run a program: make the buffers, write the weights to the buffers that have some, write the
// inputs, dispatch the steps in order, and read the outputs. Every element takes four bytes (f32,
// i32 or u32).
#pragma once

#include <array>

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

struct Program {
  struct Buffer {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> weights_offset;  // Offset of its data in the blob, if it has any.
  };
  struct Step {
    std::string label;               // Label of the kernel, such as "Conv+Relu".
    std::vector<std::string> nodes;  // Names of the nodes that it computes, or helps to compute.
    std::uint32_t module = 0;
    std::array<std::uint32_t, 3> dispatch{1, 1, 1};
    std::vector<std::uint32_t> reads;   // The buffers at bindings 0, 1, ...
    std::vector<std::uint32_t> writes;  // Buffers at the bindings after those of `reads`.
  };
  // An input or output of the graph.
  struct Port {
    std::string name;
    ElementType type = ElementType::f32;
    Shape shape;
    std::uint32_t buffer = 0;
  };
  std::vector<std::string> modules;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  ByteVector weights;
};

// `inputs` gives the shapes of the inputs. Fails with unsupported and the node's name if a node has
// no kernel for these shapes, or if the shape of an output depends on values.
[[nodiscard]] Result<Program> compile(const Graph& graph, std::vector<Tensor> inputs,
                                      const ScheduleOptions& options);

}  // namespace weft::onnx
