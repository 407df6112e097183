// Finds boxes in the outputs of a detector.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/onnx/vision/picture.h"

namespace weft::onnx {

struct Detection {
  std::int64_t class_id = 0;
  double score = 0;             // A confidence from 0 to 1.
  std::array<double, 4> box{};  // The left, top, right and bottom edges.
};

struct DetectionBounds {
  double score_min = 0.25;
  double overlap_max = 0.45;  // The largest intersection over union of two kept boxes of one class.
  std::size_t boxes_max = 1000;
};

// The layouts in which detectors give their boxes.
enum class DetectorKind : std::uint8_t {
  // One output [1][boxes][5 + classes]. A row has centre and size in pixels of the input, the
  // confidence that there is an object, and the confidence of each class (YOLOv5, FastestDet).
  objectness,
  // Two outputs: [1][boxes][classes], in which class 0 means no object, and [1][boxes][4] with
  // corners as fractions of the input's size (SSD, UltraFace).
  classes_and_corners,
};
// Finds the layout from the shapes of the outputs. Returns nullopt if they fit no layout.
[[nodiscard]] std::optional<DetectorKind> detector_kind(const std::vector<Shape>& outputs);

// A row of a detector's outputs that may be a box. With classes_and_corners, each class of a row is
// a candidate of its own.
struct Candidate {
  std::int64_t row = 0;
  // The class; with `objectness`, the class with the highest confidence.
  std::int64_t class_id = 0;
  float object = 1;            // Confidence that there is an object.
  float score = 0;             // The confidence of the class.
  std::array<float, 4> box{};  // The four numbers of the outputs, unchanged.
};

// Returns the boxes in pixels of the picture, best first, after non-maximum suppression by class.
// Boxes may reach beyond the edges of the picture. `width` and `height` are those of the model's
// input. Fails with unsupported if detector_kind() does not know the outputs, or if they are not
// f32.
[[nodiscard]] Result<std::vector<Detection>> detections_of(const std::vector<Tensor>& outputs,
                                                           std::int64_t width, std::int64_t height,
                                                           const Placement& placement,
                                                           const DetectionBounds& bounds);

// Returns bit for bit the boxes that the other overload finds in the whole outputs. `candidates`
// must hold every candidate that passes the bounds exactly once. Candidates that do not pass are
// ignored, and the order of `candidates` does not matter.
[[nodiscard]] std::vector<Detection> detections_of(std::vector<Candidate> candidates,
                                                   DetectorKind kind, std::int64_t width,
                                                   std::int64_t height, const Placement& placement,
                                                   const DetectionBounds& bounds);

// Returns "person" and so on for a class if there are COCO's 80 classes, otherwise "class 17".
[[nodiscard]] std::string class_label(std::int64_t class_id, std::int64_t classes);
// Returns the number of classes that outputs of these shapes distinguish.
[[nodiscard]] std::int64_t class_count(const std::vector<Shape>& outputs);

}  // namespace weft::onnx
