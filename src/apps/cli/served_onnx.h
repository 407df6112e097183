// What `weft model add` tells a coordinator of an ONNX model: its inputs and outputs.
#pragma once

#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::cli {

// Whether the file's name says that it is one.
[[nodiscard]] bool is_onnx_file(const std::string& file);

// `sizes`: "NAME=SIZE" for symbols of inputs, as --size has them. Fails where the model is not one
// that runs, and as unsupported if an output's shape depends on more than its inputs' shapes.
[[nodiscard]] Result<inference::OnnxInterface> onnx_interface(
    ByteSpan model, const std::vector<std::string>& sizes);

}  // namespace weft::cli
