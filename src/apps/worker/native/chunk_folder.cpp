#include "apps/worker/native/chunk_folder.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <sys/stat.h>

#include "engine/gguf/mapped_file.h"

namespace weft::worker {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
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
    const ssize_t put =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
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
    return fail(ErrorCode::unavailable,
                "The model cannot be kept in {}: {}. Free some space there, or set XDG_CACHE_HOME.",
                folder_.string(), std::generic_category().message(errno));
  };
  if (bytes_max_ != 0 && file.bytes > bytes_max_)
    return fail(ErrorCode::resource_exhausted,
                "The model has {} bytes; at most {} are kept on this disk (weft work "
                "--model-disk-mb).",
                file.bytes, bytes_max_);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  make_room(file, bytes.size());
  const Descriptor out(weights(file), O_RDWR | O_CREAT);
  // The file has its full length from the start, so that it can be mapped.
  if (!out || ::ftruncate(out.get(), static_cast<off_t>(file.bytes)) != 0 ||
      !write_at(out.get(), bytes, file.chunk_begin(chunk)))
    return refused();
  const Descriptor have(list(file), O_RDWR | O_CREAT);
  const std::uint8_t there = 1;
  if (!have || !write_at(have.get(), {&there, 1}, chunk)) return refused();
  return {};
}

void ChunkFolder::make_room(const ModelFile& file, std::uint64_t bytes) const {
  if (bytes_max_ == 0) return;
  struct Stored {
    std::filesystem::path weights;
    std::filesystem::path list;
    std::uint64_t bytes = 0;
    timespec used{};
  };
  std::vector<Stored> models;
  std::uint64_t total = bytes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    if (entry.path().extension() != ".gguf") continue;
    Stored model{.weights = entry.path(), .list = entry.path(), .used = {}};
    model.list.replace_extension(".chunks");
    struct stat about{};
    if (::stat(model.weights.c_str(), &about) != 0) continue;
    constexpr std::uint64_t block = 512;  // The unit of st_blocks on every file system.
    model.bytes = static_cast<std::uint64_t>(about.st_blocks) * block;
    total += model.bytes;
    if (::stat(model.list.c_str(), &about) == 0) model.used = about.st_mtim;
    if (model.weights != weights(file)) models.push_back(std::move(model));
  }
  std::ranges::sort(models, [](const Stored& a, const Stored& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Stored& model : models) {
    if (total <= bytes_max_) return;
    // The list is removed first, because without it no chunk counts as stored.
    std::filesystem::remove(model.list, error);
    std::filesystem::remove(model.weights, error);
    total -= model.bytes;
  }
}

Result<int> ChunkFolder::open_descriptor(const ModelFile& file) const {
  ::utimensat(AT_FDCWD, list(file).c_str(), nullptr, 0);  // Marks the model as used now.
  const int opened = ::open(weights(file).c_str(), O_RDONLY | O_CLOEXEC);
  if (opened >= 0) return opened;
  return fail(ErrorCode::not_found, "The file '{}' cannot be opened: {}.", weights(file).string(),
              std::generic_category().message(errno));
}

Result<std::unique_ptr<gguf::Source>> ChunkFolder::open(const ModelFile& file) const {
  WEFT_ASSIGN(const int opened, open_descriptor(file));
  WEFT_ASSIGN(auto mapped, gguf::MappedFile::of(opened, weights(file).string()));
  return mapped;
}

}  // namespace weft::worker
