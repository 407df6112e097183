// Pictures in files: PNG and JPEG in, PNG out.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "engine/onnx/vision/picture.h"

namespace weft::cli {

// By the first bytes of the file. Grey becomes three equal channels; transparency is laid over
// black. Fails with invalid_argument for another kind of file, a damaged one, and one of more than
// 64 million pixels; and as read_file() does.
[[nodiscard]] Result<onnx::Picture> read_image(const std::filesystem::path& path);
[[nodiscard]] Result<> write_image(const std::filesystem::path& path, const onnx::Picture& picture);

}  // namespace weft::cli
