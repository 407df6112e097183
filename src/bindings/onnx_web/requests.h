// Parses the page's requests: the JSON that README.md lists. A missing key takes its default value;
// an unknown key is an error. Errors: invalid_argument with the place in the JSON.
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
// Parses {"device", "sizes": {NAME: SIZE}}, with which a model is opened.
[[nodiscard]] Result<OpenRequest> parse_open(std::string_view json);

// A model's inputs in the order of the graph. An input that is on the GPU has a type and a shape
// but no bytes.
struct RunRequest {
  std::vector<onnx::Tensor> inputs;
  std::vector<bool> on_gpu;
};
// Parses [{"name", "shape", "offset", "bytes", "gpu"}]; `data` holds the bytes of all inputs. The
// list must name every input of the graph once. An input may omit its shape if the model states it.
[[nodiscard]] Result<RunRequest> parse_run(std::string_view json, ByteSpan data,
                                           const onnx::Graph& graph);

struct BoxesRequest {
  onnx::Placement placement;
  onnx::DetectionBounds bounds;
};
// Parses {"left", "top", "scaleX", "scaleY", "scoreMin", "overlapMax"}.
[[nodiscard]] Result<BoxesRequest> parse_boxes(std::string_view json);

// Returns the shape of an input if all its sizes are numbers, else nothing.
[[nodiscard]] std::optional<onnx::Shape> fixed_shape(const onnx::ValueInfo& input);

}  // namespace weft::onnx_web
