// Reads the inputs of commands on ONNX models.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/onnx/graph.h"
#include "engine/onnx/tensor.h"

namespace weft::cli {

// Parses the "NAME=SIZE" texts of --size. Fails with invalid_argument for another form.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::int64_t>>> symbol_sizes(
    const std::vector<std::string>& given);

// Reads an input of a model from input_K.pb (a serialised tensor), or else from NAME.npy.
[[nodiscard]] Result<onnx::Tensor> read_onnx_input(const std::filesystem::path& folder,
                                                   std::size_t index, const std::string& name);

// Fails with invalid_argument if the folder is not empty.
[[nodiscard]] Result<> check_new_folder(const std::string& folder);

// Reads the graph of a model's file, with the sizes of --size and with constants folded.
[[nodiscard]] Result<onnx::Graph> prepared_graph(const std::string& file,
                                                 const std::vector<std::string>& sizes);

}  // namespace weft::cli
