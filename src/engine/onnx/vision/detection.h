// Boxes from what a detector computes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/onnx/vision/picture.h"

namespace weft::onnx {

struct Detection {
  std::int64_t class_id = 0;
  double score = 0;             // In [0, 1].
  std::array<double, 4> box{};  // Left, top, right, bottom.
};

struct DetectionBounds {
  double score_min = 0.25;
  double overlap_max = 0.45;  // Intersection over union; of two boxes of a class.
  std::size_t boxes_max = 1000;
};

// How a detector tells its boxes.
enum class DetectorKind : std::uint8_t {
  // One output [1][boxes][5 + classes]: centre and size in pixels of the input, how sure it is that
  // there is an object, and of each class (YOLOv5, FastestDet).
  objectness,
  // Two outputs, [1][boxes][classes] with class 0 for nothing, and [1][boxes][4]: corners as shares
  // of the input (SSD, UltraFace).
  classes_and_corners,
};
// From the shapes of the outputs; nullopt if they are neither.
[[nodiscard]] std::optional<DetectorKind> detector_kind(const std::vector<Shape>& outputs);

// A row of a detector's outputs that may be a box, or with corners a row and one class of it.
struct Candidate {
  std::int64_t row = 0;
  std::int64_t class_id = 0;   // With objectness: the first of the best ones.
  float object = 1;            // How sure the detector is that there is an object.
  float score = 0;             // How sure it is of the class.
  std::array<float, 4> box{};  // As it stands in the outputs.
};

// The boxes in pixels of the picture (they may reach beyond its edges), best first, after
// non-maximum suppression by class. `width` and `height` are those of the model's input.
// unsupported if detector_kind() does not know the outputs, or if they are not f32.
[[nodiscard]] Result<std::vector<Detection>> detections_of(const std::vector<Tensor>& outputs,
                                                           std::int64_t width, std::int64_t height,
                                                           const Placement& placement,
                                                           const DetectionBounds& bounds);

// The same boxes to the bit from candidates: `candidates` has each one that passes the bounds,
// once; others are passed over, and their order does not matter.
[[nodiscard]] std::vector<Detection> detections_of(std::vector<Candidate> candidates,
                                                   DetectorKind kind, std::int64_t width,
                                                   std::int64_t height, const Placement& placement,
                                                   const DetectionBounds& bounds);

// "person" and so on for a class of COCO's 80, else "class 17".
[[nodiscard]] std::string class_label(std::int64_t class_id, std::int64_t classes);
// How many classes the outputs distinguish.
[[nodiscard]] std::int64_t class_count(const std::vector<Shape>& outputs);

}  // namespace weft::onnx
