// What the page is told, as JSON; README.md has the keys.
#pragma once

#include <string>
#include <vector>

#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/detection.h"
#include "engine/onnx/vision/gpu/gpu_detector.h"

namespace weft::onnx_web {

struct ModelInfo {
  const onnx::Graph& graph;
  std::vector<std::optional<onnx::Tensor>> outputs;  // What is known of each before a run.
  std::string name;
  bool gpu = false;
  std::string device;
  std::string no_gpu;  // Why it is the processor, where a GPU was looked for.
  std::uint64_t weight_bytes = 0;
};
[[nodiscard]] std::string info_json(const ModelInfo& info);

// Names, types and shapes of what a run gave; the bytes travel beside it. Null: the processor ran.
[[nodiscard]] std::string outputs_json(const onnx::Graph& graph,
                                       const std::vector<onnx::Tensor>& outputs,
                                       const onnx::GpuModel::Statistics* statistics);

[[nodiscard]] std::string tensor_json(std::string_view name, const onnx::Tensor& tensor);

// What Model::detect() found, and the traffic that it took.
[[nodiscard]] std::string found_json(const onnx::GpuDetector::Found& found);
[[nodiscard]] std::string boxes_json(const std::vector<onnx::Detection>& boxes,
                                     std::int64_t classes);

}  // namespace weft::onnx_web
