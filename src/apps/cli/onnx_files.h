// What commands on ONNX models read beside the model.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/onnx/tensor.h"

namespace weft::cli {

// Reads "NAME=SIZE" of --size. Fails with invalid_argument.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::int64_t>>> symbol_sizes(
    const std::vector<std::string>& given);

// An input of a model: input_K.pb (a serialised tensor), or else NAME.npy.
[[nodiscard]] Result<onnx::Tensor> read_onnx_input(const std::filesystem::path& folder,
                                                   std::size_t index, const std::string& name);

}  // namespace weft::cli
