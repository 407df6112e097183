// `weft detect`: detects objects in pictures with an ONNX model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/network_items.h"

namespace weft::cli {

struct DetectOptions {
  std::string file;
  std::vector<std::string> images;
  std::string device = "gpu";
  std::string storage = "f32";  // Type of floats on a GPU: "f32" or "f16".
  std::string png;
  std::string fit;  // The way to fit pictures; empty: the default of the detector's kind.
  std::string channels = "RGB";
  std::optional<float> mean;
  std::optional<float> scale;
  double score_min = 0.25;
  double overlap_max = 0.45;
  bool network = false;  // A network computes the boxes, as one onnx job of all pictures.
  NetworkItemsOptions at;
  bool json = false;
};
// Prints the class, the score and the box in pixels of each object, for each picture.
int detect_command(const DetectOptions& options);

}  // namespace weft::cli
