// Decides which properties of a model's inputs belong to a plan: types and shapes, values that
// decide settings of nodes (settings.h), and the ranges of integers. Inputs with equal keys use the
// same plan.
//
// Pure. Lifetime: the graph outlives the rules. Inputs are in the graph's order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "engine/gpu/device.h"
#include "engine/onnx/gpu/settings.h"
#include "engine/onnx/tensor.h"

namespace weft::onnx {

class InputRules {
 public:
  explicit InputRules(const Graph& graph) : graph_(graph), telling_(telling_inputs(graph)) {}

  // True if the values of this input belong to a plan.
  [[nodiscard]] bool is_known(std::size_t input, const Tensor& value) const;
  [[nodiscard]] std::string key_of(std::span<const Tensor> inputs) const;
  // Checks that inputs can be on the device. `buffers` has a buffer for each input that is given by
  // type and shape only, and null for each other input. Fails as GpuModel::run_on_device() does.
  [[nodiscard]] Result<> check_buffers(std::span<const Tensor> inputs,
                                       std::span<const gpu::Buffer* const> buffers) const;

 private:
  const Graph& graph_;
  const std::vector<bool> telling_;
};

}  // namespace weft::onnx
