// `weft onnx`: what is in an ONNX model, and running it on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

// Sizes for symbols in the shapes of a model's inputs, as NAME=SIZE.
using SymbolSizes = std::vector<std::string>;

struct OnnxInspectOptions {
  std::string file;
  SymbolSizes sizes;
  bool json = false;
};
// Prints graph, parameters, operations and memory.
int onnx_inspect_command(const OnnxInspectOptions& options);

struct OnnxRunOptions {
  std::string file;
  std::string inputs;   // A folder of input_K.pb or NAME.npy.
  std::string outputs;  // A folder that output_K.pb and output_K.npy are written to.
  std::string device = "gpu";
  bool unfused = false;  // On a GPU, one kernel or more for each node.
  bool json = false;
};
int onnx_run_command(const OnnxRunOptions& options);

}  // namespace weft::cli
