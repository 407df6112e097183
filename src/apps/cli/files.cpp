#include "apps/cli/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace weft::cli {
namespace {

constexpr std::uintmax_t file_bytes_max = std::uintmax_t{4} << 30;

}  // namespace

Result<ByteVector> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(ErrorCode::invalid_argument, "'{}' is a folder, not a file.", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int why = errno;
    return fail(why == EACCES ? ErrorCode::permission_denied : ErrorCode::not_found,
                "Cannot read '{}': {}.", path.string(), std::strerror(why));
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > file_bytes_max) {
    return fail(ErrorCode::resource_exhausted, "'{}' has {} bytes; files up to {} are read.",
                path.string(), size, file_bytes_max);
  }
  ByteVector bytes(error ? 0 : size);  // 0 for a pipe, which has no size.
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  for (char c; file.get(c) && bytes.size() < file_bytes_max;)
    bytes.push_back(static_cast<std::uint8_t>(c));
  return bytes;
}

Result<> write_file(const std::filesystem::path& path, ByteSpan bytes) {
  std::error_code error;
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return fail(ErrorCode::permission_denied, "The folder '{}' cannot be made: {}.",
                path.parent_path().string(), error.message());
  const std::filesystem::path beside = path.string() + ".part";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      const int why = errno;
      std::filesystem::remove(beside, ignored);
      return fail(ErrorCode::permission_denied, "Cannot write '{}': {}.", path.string(),
                  std::strerror(why));
    }
  }
  std::filesystem::rename(beside, path, error);
  if (error) {
    std::filesystem::remove(beside, ignored);
    return fail(ErrorCode::permission_denied, "Cannot write '{}': {}.", path.string(),
                error.message());
  }
  return {};
}

}  // namespace weft::cli
