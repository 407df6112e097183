#include "engine/onnx/vision/convention.h"

namespace weft::onnx {

Result<DetectorInput> detector_input(const Graph& graph) {
  if (graph.inputs.size() == 1 && graph.inputs[0].type == ElementType::f32 &&
      graph.inputs[0].shape && graph.inputs[0].shape->size() == 4) {
    const auto& shape = *graph.inputs[0].shape;
    if (shape[0].size.value_or(1) == 1 && shape[1].size.value_or(3) == 3 && shape[2].size &&
        shape[3].size)
      return DetectorInput{.width = *shape[3].size, .height = *shape[2].size};
  }
  return fail(ErrorCode::unsupported,
              "The model is not a supported detector: its input must be f32 of shape [1, 3, "
              "height, width].");
}

Convention usual_convention(const Graph& graph) {
  if (graph.outputs.size() == 2)
    return {.fit = Fit::stretch, .scale = {.mean = 127, .scale = 1.0f / 128}};
  return {};
}

}  // namespace weft::onnx
