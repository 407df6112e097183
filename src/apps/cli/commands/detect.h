// `weft detect`: what a detector sees in pictures.
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
  std::string storage = "f32";  // "f32" or "f16": floats on a GPU.
  std::string png;
  std::string fit;  // Empty: as the kind of detector has it.
  std::string channels = "RGB";
  std::optional<float> mean;
  std::optional<float> scale;
  double score_min = 0.25;
  double overlap_max = 0.45;
  bool network = false;  // A network computes it, as an onnx job of all pictures.
  NetworkItemsOptions at;
  bool json = false;
};
// Prints class, score and box in pixels of each picture.
int detect_command(const DetectOptions& options);

}  // namespace weft::cli
