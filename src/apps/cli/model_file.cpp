#include "apps/cli/model_file.h"

#include <cstdio>

#include "apps/cli/files.h"

namespace weft::cli {

Result<ModelFile> open_model(const std::string& path) {
  WEFT_ASSIGN(auto source, gguf::MappedFile::open(path));
  auto header = gguf::read_file(*source);
  if (!header) return pass(std::move(header), "while reading {}", path);
  return ModelFile{.source = std::move(source), .header = std::move(*header)};
}

Result<std::string> read_input(const std::string& path) {
  if (path != "-") {
    WEFT_ASSIGN(const ByteVector bytes, read_file(path));
    return std::string(as_text(bytes));
  }
  constexpr std::size_t bytes_max = std::size_t{1} << 30;
  std::string text, part(1 << 16, '\0');
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), stdin)) {
    text.append(part, 0, count);
    if (text.size() > bytes_max)
      return fail(ErrorCode::resource_exhausted, "Standard input has more than {} bytes.",
                  bytes_max);
  }
  return text;
}

}  // namespace weft::cli
