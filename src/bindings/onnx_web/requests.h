// What the page asks for, read from the JSON that README.md lists. A key that is missing has its
// default; an unknown one is an error. Errors: invalid_argument with the place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "engine/onnx/graph.h"
#include "engine/onnx/vision/detection.h"

namespace weft::onnx_web {

enum class DeviceChoice : std::uint8_t { automatic, gpu, cpu };

struct OpenRequest {
  DeviceChoice device = DeviceChoice::automatic;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
};
// {"device", "sizes": {NAME: SIZE}}
[[nodiscard]] Result<OpenRequest> parse_open(std::string_view json);

// A model's inputs in the graph's order. One on the GPU has type and shape only.
struct RunRequest {
  std::vector<onnx::Tensor> inputs;
  std::vector<bool> on_gpu;
};
// [{"name", "shape", "offset", "bytes", "gpu"}]; `data` holds the bytes of all. Every input of the
// graph is there once; a shape may be left out where the model says it.
[[nodiscard]] Result<RunRequest> parse_run(std::string_view json, ByteSpan data,
                                           const onnx::Graph& graph);

struct BoxesRequest {
  onnx::Placement placement;
  onnx::DetectionBounds bounds;
};
// {"left", "top", "scaleX", "scaleY", "scoreMin", "overlapMax"}
[[nodiscard]] Result<BoxesRequest> parse_boxes(std::string_view json);

// The shape of an input whose sizes are all numbers.
[[nodiscard]] std::optional<onnx::Shape> fixed_shape(const onnx::ValueInfo& input);

}  // namespace weft::onnx_web
