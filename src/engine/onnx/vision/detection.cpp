#include "engine/onnx/vision/detection.h"

#include <algorithm>

namespace weft::onnx {
namespace {

// The categories of COCO 2017, in the order of the data set.
constexpr std::array<std::string_view, 80> coco_names = {
    "person",        "bicycle",      "car",
    "motorcycle",    "airplane",     "bus",
    "train",         "truck",        "boat",
    "traffic light", "fire hydrant", "stop sign",
    "parking meter", "bench",        "bird",
    "cat",           "dog",          "horse",
    "sheep",         "cow",          "elephant",
    "bear",          "zebra",        "giraffe",
    "backpack",      "umbrella",     "handbag",
    "tie",           "suitcase",     "frisbee",
    "skis",          "snowboard",    "sports ball",
    "kite",          "baseball bat", "baseball glove",
    "skateboard",    "surfboard",    "tennis racket",
    "bottle",        "wine glass",   "cup",
    "fork",          "knife",        "spoon",
    "bowl",          "banana",       "apple",
    "sandwich",      "orange",       "broccoli",
    "carrot",        "hot dog",      "pizza",
    "donut",         "cake",         "chair",
    "couch",         "potted plant", "bed",
    "dining table",  "toilet",       "tv",
    "laptop",        "mouse",        "remote",
    "keyboard",      "cell phone",   "microwave",
    "oven",          "toaster",      "sink",
    "refrigerator",  "book",         "clock",
    "vase",          "scissors",     "teddy bear",
    "hair drier",    "toothbrush"};

double overlap_of(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  const double width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  const double all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
  return all <= 0 ? 0 : both / all;
}

std::vector<Detection> suppressed(std::vector<Detection> found, const DetectionBounds& bounds) {
  std::ranges::stable_sort(found, std::ranges::greater(), &Detection::score);
  std::vector<Detection> kept;
  for (const Detection& next : found) {
    if (kept.size() >= bounds.boxes_max) break;
    const bool clear = std::ranges::none_of(kept, [&](const Detection& other) {
      return other.class_id == next.class_id &&
             overlap_of(other.box, next.box) > bounds.overlap_max;
    });
    if (clear) kept.push_back(next);
  }
  return kept;
}

std::vector<Candidate> with_objectness(const Tensor& output, const DetectionBounds& bounds) {
  const std::int64_t rows = output.shape()[1], width = output.shape()[2];
  std::vector<Candidate> found;
  const auto values = output.values<float>();
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = values.data() + r * width;
    if (!(row[4] > bounds.score_min)) continue;
    const float* best = std::max_element(row + 5, row + width);
    found.push_back({.row = r,
                     .class_id = best - row - 5,
                     .object = row[4],
                     .score = *best,
                     .box = {row[0], row[1], row[2], row[3]}});
  }
  return found;
}

std::vector<Candidate> with_corners(const Tensor& scores, const Tensor& boxes,
                                    const DetectionBounds& bounds) {
  const std::int64_t rows = scores.shape()[1], classes = scores.shape()[2];
  std::vector<Candidate> found;
  const auto score = scores.values<float>(), corners = boxes.values<float>();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 1; c < classes; ++c) {
      const float one = score[static_cast<std::size_t>(r * classes + c)];
      if (!(one > bounds.score_min)) continue;
      const float* box = corners.data() + r * 4;
      found.push_back(
          {.row = r, .class_id = c, .score = one, .box = {box[0], box[1], box[2], box[3]}});
    }
  return found;
}

// Returns the corners of a candidate's box in pixels of the model's input.
std::array<double, 4> box_of(const Candidate& candidate, DetectorKind kind, double width,
                             double height) {
  const auto& box = candidate.box;
  if (kind == DetectorKind::objectness)
    return {box[0] - box[2] / 2.0, box[1] - box[3] / 2.0, box[0] + box[2] / 2.0,
            box[1] + box[3] / 2.0};
  return {box[0] * width, box[1] * height, box[2] * width, box[3] * height};
}

bool rows_of(const Shape& shape, std::int64_t width_min) {
  return shape.size() == 3 && shape[0] == 1 && shape[2] >= width_min;
}

}  // namespace

std::optional<DetectorKind> detector_kind(const std::vector<Shape>& outputs) {
  if (outputs.size() == 1 && rows_of(outputs[0], 6)) return DetectorKind::objectness;
  if (outputs.size() == 2 && rows_of(outputs[0], 2) && rows_of(outputs[1], 4) &&
      outputs[1][2] == 4 && outputs[0][1] == outputs[1][1])
    return DetectorKind::classes_and_corners;
  return std::nullopt;
}

Result<std::vector<Detection>> detections_of(const std::vector<Tensor>& outputs, std::int64_t width,
                                             std::int64_t height, const Placement& placement,
                                             const DetectionBounds& bounds) {
  std::vector<Shape> shapes;
  bool floats = true;
  for (const Tensor& output : outputs) {
    shapes.push_back(output.shape());
    floats = floats && output.type() == ElementType::f32;
  }
  const auto kind = detector_kind(shapes);
  if (!kind || !floats)
    return fail(
        ErrorCode::unsupported,
        "The model's outputs are not those of a detector: one f32 output of shape [1, boxes, "
        "5 + classes], or two of shapes [1, boxes, classes] and [1, boxes, 4].");
  return detections_of(*kind == DetectorKind::objectness
                           ? with_objectness(outputs[0], bounds)
                           : with_corners(outputs[0], outputs[1], bounds),
                       *kind, width, height, placement, bounds);
}

std::vector<Detection> detections_of(std::vector<Candidate> candidates, DetectorKind kind,
                                     std::int64_t width, std::int64_t height,
                                     const Placement& placement, const DetectionBounds& bounds) {
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(candidate.row, candidate.class_id);
  });
  std::vector<Detection> found;
  for (const Candidate& candidate : candidates) {
    if (!(candidate.object > bounds.score_min) && kind == DetectorKind::objectness) continue;
    const double score = static_cast<double>(candidate.object) * candidate.score;
    if (!(score > bounds.score_min)) continue;
    found.push_back(
        {.class_id = candidate.class_id,
         .score = score,
         .box = box_of(candidate, kind, static_cast<double>(width), static_cast<double>(height))});
  }
  found = suppressed(std::move(found), bounds);
  for (Detection& detection : found)
    for (std::size_t side = 0; side < 4; ++side)
      detection.box[side] = side % 2 == 0
                                ? (detection.box[side] - placement.left) / placement.scale_x
                                : (detection.box[side] - placement.top) / placement.scale_y;
  return found;
}

std::int64_t class_count(const std::vector<Shape>& outputs) {
  return outputs.size() == 1 ? outputs[0][2] - 5 : outputs[0][2];
}

std::string class_label(std::int64_t class_id, std::int64_t classes) {
  if (classes == static_cast<std::int64_t>(coco_names.size()) && class_id >= 0 &&
      class_id < classes)
    return std::string(coco_names[static_cast<std::size_t>(class_id)]);
  return weft::format("class {}", class_id);
}

}  // namespace weft::onnx
