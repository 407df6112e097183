// A graph compiled for fixed shapes as plain data, for any device and any program that knows
// WebGPU: modules of WGSL, buffers, steps, and one blob of weights.
//
// To run it: make the buffers; write the weights to those that hold some; write the inputs;
// dispatch the steps in order; read the outputs. Every element takes four bytes (f32, i32 or u32).
#pragma once

#include <array>

#include "engine/onnx/gpu/schedule.h"

namespace weft::onnx {

struct Program {
  struct Buffer {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> weights_offset;  // Where its bytes begin in the blob, if any.
  };
  struct Step {
    std::string label;               // "Conv+Relu"
    std::vector<std::string> nodes;  // That it computes, or takes part in computing.
    std::uint32_t module = 0;
    std::array<std::uint32_t, 3> dispatch{1, 1, 1};
    std::vector<std::uint32_t> reads;   // Buffers at the bindings 0, 1, ...
    std::vector<std::uint32_t> writes;  // At the bindings after them.
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

// `inputs` say the shapes. Fails with unsupported and the node's name if a node has no kernel for
// these shapes, or if an output's shape depends on values.
[[nodiscard]] Result<Program> compile(const Graph& graph, std::vector<Tensor> inputs,
                                      const ScheduleOptions& options);

}  // namespace weft::onnx
