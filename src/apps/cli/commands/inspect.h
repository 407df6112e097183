// `weft inspect`: prints the contents of a model's file.
#pragma once

#include <string>

namespace weft::cli {

struct InspectOptions {
  std::string file;
  bool json = false;
};

// Prints metadata and tensors to standard output. Returns the exit code.
int inspect_command(const InspectOptions& options);

}  // namespace weft::cli
