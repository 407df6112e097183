// Reads PNG and JPEG pictures from files, and writes PNG.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "engine/onnx/vision/picture.h"

namespace weft::cli {

// Detects the format by the first bytes of the file. Grey becomes three equal channels; transparent
// pixels are blended over black. Fails with invalid_argument for another format, a damaged file, or
// more than 64 million pixels, and with the errors of read_file().
[[nodiscard]] Result<onnx::Picture> read_image(const std::filesystem::path& path);
[[nodiscard]] Result<> write_image(const std::filesystem::path& path, const onnx::Picture& picture);

}  // namespace weft::cli
