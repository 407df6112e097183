// Writes the answers for the page as JSON; README.md lists the keys.
#pragma once

#include <string>
#include <vector>

#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/detection.h"
#include "engine/onnx/vision/gpu/gpu_detector.h"

namespace weft::onnx_web {

struct ModelInfo {
  const onnx::Graph& graph;
  // The types and shapes that are known before a run.
  std::vector<std::optional<onnx::Tensor>> outputs;
  std::string name;
  bool gpu = false;
  std::string device;
  std::string no_gpu;  // The reason that no GPU is used; empty if none was tried.
  std::uint64_t weight_bytes = 0;
};
[[nodiscard]] std::string info_json(const ModelInfo& info);

// The names, types and shapes of the outputs of a run; their bytes are passed separately.
// `statistics` is null if the model runs on the processor.
[[nodiscard]] std::string outputs_json(const onnx::Graph& graph,
                                       const std::vector<onnx::Tensor>& outputs,
                                       const onnx::GpuModel::Statistics* statistics);

[[nodiscard]] std::string tensor_json(std::string_view name, const onnx::Tensor& tensor);

// The boxes that Model::detect() found, with the dispatches, the submits and the bytes read back.
[[nodiscard]] std::string found_json(const onnx::GpuDetector::Found& found);
[[nodiscard]] std::string boxes_json(const std::vector<onnx::Detection>& boxes,
                                     std::int64_t classes);

}  // namespace weft::onnx_web
