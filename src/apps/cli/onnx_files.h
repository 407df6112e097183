// What commands on ONNX models read beside the model.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/onnx/graph.h"
#include "engine/onnx/tensor.h"

namespace weft::cli {

// Reads "NAME=SIZE" of --size. Fails with invalid_argument.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::int64_t>>> symbol_sizes(
    const std::vector<std::string>& given);

// An input of a model: input_K.pb (a serialised tensor), or else NAME.npy.
[[nodiscard]] Result<onnx::Tensor> read_onnx_input(const std::filesystem::path& folder,
                                                   std::size_t index, const std::string& name);

// invalid_argument if something is in the folder already.
[[nodiscard]] Result<> check_new_folder(const std::string& folder);

// The graph of a model's file, with sizes as --size gives them, and what is constant folded.
[[nodiscard]] Result<onnx::Graph> prepared_graph(const std::string& file,
                                                 const std::vector<std::string>& sizes);

}  // namespace weft::cli
