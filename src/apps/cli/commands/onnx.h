// `weft onnx`: inspects and converts ONNX models, and runs them on this machine or in a network.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/network_items.h"

namespace weft::cli {

// Sizes of symbolic dimensions of a model's inputs, as NAME=SIZE.
using SymbolSizes = std::vector<std::string>;

struct OnnxInspectOptions {
  std::string file;
  SymbolSizes sizes;
  bool json = false;
};
// Prints the graph, parameters, operations and memory of a model.
int onnx_inspect_command(const OnnxInspectOptions& options);

struct OnnxRunOptions {
  std::string file;
  std::string inputs;  // A folder of input_K.pb or NAME.npy, or a folder of such folders.
  // Folder for output_K.pb and output_K.npy; a folder of input folders gets a subfolder for each.
  std::string outputs;
  std::string device = "gpu";
  std::string storage = "f32";  // Type of floats on a GPU: "f32" or "f16".
  bool unfused = false;         // On a GPU: runs each node alone, in one kernel or more.
  bool tune = false;            // Measures the best tiling of convolutions and stores it.
  bool network = false;         // A network computes the outputs, as an onnx job.
  NetworkItemsOptions at;
  bool json = false;
};
int onnx_run_command(const OnnxRunOptions& options);

struct OnnxCompileOptions {
  std::string file;
  std::string out;  // Folder to write to.
  SymbolSizes sizes;
  bool unfused = false;
  bool json = false;
};
// Writes modules, a descriptor and weights that any program with WebGPU can run.
int onnx_compile_command(const OnnxCompileOptions& options);

struct OnnxBenchOptions {
  std::string file;
  std::string inputs;           // Input folder; empty: generated numbers.
  std::string image;            // A picture for a detector; empty: none.
  std::string storage = "f32";  // Type of floats on the GPU: "f32" or "f16".
  SymbolSizes sizes;
  bool unfused = false;  // Lists one kernel or more for each node.
  bool tune = false;     // Measures the best tiling of convolutions and stores it.
  bool json = false;
};
int onnx_bench_command(const OnnxBenchOptions& options);

struct OnnxSplitOptions {
  std::string file;
  std::string out;  // Folder to write to.
  std::size_t parts = 2;
  SymbolSizes sizes;
  bool json = false;
};
// Splits the model into several models that run one after the other.
int onnx_split_command(const OnnxSplitOptions& options);

struct OnnxReshapeOptions {
  std::string file;
  std::string out;  // File to write to.
  // "NAME=1x3x320x320"; the name may be omitted for a single input.
  std::vector<std::string> shapes;
  bool json = false;
};
// Writes the model changed for inputs of other sizes.
int onnx_reshape_command(const OnnxReshapeOptions& options);

struct OnnxQuantizeOptions {
  std::string file;
  std::string out;                // File to write to.
  std::vector<std::string> kept;  // Nodes whose weights stay floats.
  bool json = false;
};
// Writes the model with its weights as 8-bit integers.
int onnx_quantize_command(const OnnxQuantizeOptions& options);

}  // namespace weft::cli
