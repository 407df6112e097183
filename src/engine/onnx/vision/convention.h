// Describes the input of a detector, and how pictures are usually fitted and scaled for its kind.
#pragma once

#include "engine/onnx/graph.h"
#include "engine/onnx/vision/picture.h"

namespace weft::onnx {

struct DetectorInput {
  std::int64_t width = 0;
  std::int64_t height = 0;
};
// Fails with unsupported unless the graph has one input, f32 of shape [1, 3, height, width].
[[nodiscard]] Result<DetectorInput> detector_input(const Graph& graph);

// The way in which pictures are fitted and scaled for a detector.
struct Convention {
  Fit fit = Fit::letterbox;
  PixelScale scale;
};
// Guesses the convention from the number of outputs: two are those of SSD and similar detectors,
// one is that of YOLO and similar detectors.
[[nodiscard]] Convention usual_convention(const Graph& graph);

}  // namespace weft::onnx
