#include "engine/onnx/model_file.h"

#include <algorithm>

#include "engine/gguf/mapped_file.h"

namespace weft::onnx {
namespace {

// Returns the path of the external data file `location`, which must be below `folder`.
Result<std::filesystem::path> external_path(const std::filesystem::path& folder,
                                            const std::string& location) {
  const std::filesystem::path relative(location);
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(folder, error);
  auto target = error ? root : std::filesystem::weakly_canonical(folder / relative, error);
  const auto [end, ignored] = std::ranges::mismatch(root, target);
  if (error || relative.is_absolute() || end != root.end() || location.contains('\0'))
    return fail(ErrorCode::permission_denied,
                "The external data '{}' lies outside of the model's folder.", location);
  return target;
}

}  // namespace

Result<Model> open_model_file(const std::filesystem::path& path, const ReadBounds& bounds) {
  WEFT_ASSIGN(const auto file, gguf::MappedFile::open(path.string()));
  const auto bytes = file->view(0, file->bytes());
  check(bytes.has_value(), "a mapped file is in memory");
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const ExternalData external = [&](const std::string& location, std::uint64_t offset,
                                    std::optional<std::uint64_t> length) -> Result<ByteVector> {
    WEFT_ASSIGN(const auto target, external_path(folder, location));
    WEFT_ASSIGN(const auto data, gguf::MappedFile::open(target.string()));
    const std::uint64_t wanted = length.value_or(data->bytes() - std::min(offset, data->bytes()));
    const auto range = data->view(offset, wanted);
    if (!range)
      return fail(ErrorCode::invalid_argument,
                  "The range of {} bytes at {} lies past the end of '{}' ({} bytes).", wanted,
                  offset, location, data->bytes());
    return ByteVector(range->begin(), range->end());
  };
  auto model = read_model(*bytes, external, bounds);
  if (!model) return pass(std::move(model), "while reading {}", path.string());
  return model;
}

}  // namespace weft::onnx
