// Reads models from files, with external data from files next to the model. Native builds only.
#pragma once

#include <filesystem>

#include "engine/onnx/read_model.h"

namespace weft::onnx {

// Reads the model of a file. External data is read only from the model's own folder and its
// subfolders. Fails as read_model() does, with the file's name in the message.
[[nodiscard]] Result<Model> open_model_file(const std::filesystem::path& path,
                                            const ReadBounds& bounds = {});

}  // namespace weft::onnx
