// Opens GGUF files for commands.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "engine/gguf/file.h"
#include "engine/gguf/mapped_file.h"

namespace weft::cli {

struct ModelFile {
  std::unique_ptr<gguf::MappedFile> source;
  gguf::File header;
};
// Opens a model's file. Errors name the file.
[[nodiscard]] Result<ModelFile> open_model(const std::string& path);

// Reads a whole file, or standard input for "-".
[[nodiscard]] Result<std::string> read_input(const std::string& path);

}  // namespace weft::cli
