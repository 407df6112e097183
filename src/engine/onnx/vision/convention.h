// What a detector's input is like, and what is usual for its kind.
#pragma once

#include "engine/onnx/graph.h"
#include "engine/onnx/vision/picture.h"

namespace weft::onnx {

struct DetectorInput {
  std::int64_t width = 0;
  std::int64_t height = 0;
};
// unsupported unless the one input is f32 of shape [1, 3, height, width].
[[nodiscard]] Result<DetectorInput> detector_input(const Graph& graph);

// How pictures are fitted and scaled for a detector.
struct Convention {
  Fit fit = Fit::letterbox;
  PixelScale scale;
};
// Two outputs: SSD and its like. One: YOLO and its like.
[[nodiscard]] Convention usual_convention(const Graph& graph);

}  // namespace weft::onnx
