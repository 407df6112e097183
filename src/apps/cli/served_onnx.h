// The inputs and outputs of an ONNX model, which `weft model add` sends to a coordinator.
#pragma once

#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::cli {

// True if the file's name is that of an ONNX model.
[[nodiscard]] bool is_onnx_file(const std::string& file);

// `sizes` are "NAME=SIZE" for symbolic dimensions, as in --size. Fails if the model cannot run, and
// with unsupported if the shape of an output depends on more than the shapes of inputs.
[[nodiscard]] Result<inference::OnnxInterface> onnx_interface(
    ByteSpan model, const std::vector<std::string>& sizes);

}  // namespace weft::cli
