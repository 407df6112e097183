#include "apps/worker/native/chunk_folder.h"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include "engine/gguf/mapped_file.h"

namespace weft::worker {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] explicit operator bool() const { return value_ >= 0; }
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

bool read_at(int descriptor, std::span<std::uint8_t> out, std::uint64_t offset) {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (got <= 0) return false;
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

bool write_at(int descriptor, ByteSpan bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

}  // namespace

std::optional<ByteVector> ChunkFolder::read(const ModelFile& file, std::uint32_t chunk) const {
  const Descriptor have(list(file), O_RDONLY);
  std::uint8_t there = 0;
  if (!have || !read_at(have.get(), {&there, 1}, chunk) || there != 1) return std::nullopt;
  const Descriptor bytes(weights(file), O_RDONLY);
  ByteVector out(file.chunk_size(chunk));
  if (!bytes || !read_at(bytes.get(), out, file.chunk_begin(chunk))) return std::nullopt;
  return out;
}

Result<> ChunkFolder::write(const ModelFile& file, std::uint32_t chunk, ByteSpan bytes) const {
  const auto refused = [&] {
    return fail(ErrorCode::unavailable, "The model cannot be kept in {}: {}. Free some space there, or set XDG_CACHE_HOME.", folder_.string(),
                std::generic_category().message(errno));
  };
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const Descriptor out(weights(file), O_RDWR | O_CREAT);
  // Its full length from the start, so that it can be mapped.
  if (!out || ::ftruncate(out.get(), static_cast<off_t>(file.bytes)) != 0 || !write_at(out.get(), bytes, file.chunk_begin(chunk))) return refused();
  const Descriptor have(list(file), O_RDWR | O_CREAT);
  const std::uint8_t there = 1;
  if (!have || !write_at(have.get(), {&there, 1}, chunk)) return refused();
  return {};
}

Result<std::unique_ptr<gguf::Source>> ChunkFolder::open(const ModelFile& file) const {
  WEFT_ASSIGN(auto mapped, gguf::MappedFile::open(weights(file).string()));
  return mapped;
}

}  // namespace weft::worker
