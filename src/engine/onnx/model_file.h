// Models in files, with external data beside them. Native only.
#pragma once

#include <filesystem>

#include "engine/onnx/read_model.h"

namespace weft::onnx {

// Reads the model of a file. External data is read from the model's own folder and folders in it,
// never from elsewhere. Fails as read_model() does, with the file's name.
[[nodiscard]] Result<Model> open_model_file(const std::filesystem::path& path,
                                            const ReadBounds& bounds = {});

}  // namespace weft::onnx
