#include "engine/gpu/native/blob_cache.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "common/base/byte_reader.h"
#include "common/base/format.h"

namespace weft::gpu::native {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "weftblob1";
constexpr std::uint64_t blob_bytes_max = std::uint64_t{64} << 20;
constexpr std::string_view extension = ".blob";

// FNV-1a. It finds files and detects damage; the key of a file is also compared byte for byte.
std::uint64_t hash(ByteSpan bytes, std::uint64_t seed = 0xcbf29ce484222325) {
  for (const std::uint8_t byte : bytes) seed = (seed ^ byte) * 0x100000001b3;
  return seed;
}

}  // namespace

BlobCache::BlobCache(Options options) : options_(std::move(options)) {
  std::error_code error;
  fs::create_directories(options_.directory, error);
  fs::permissions(options_.directory, fs::perms::owner_all, error);
  const std::scoped_lock lock(mutex_);
  shrink();
}

fs::path BlobCache::path_of(ByteSpan key) const {
  return options_.directory /
         weft::format("{:016x}{:016x}{}", hash(key), hash(key, key.size() + 1), extension);
}

// Format of a file: magic, u64 key length, u64 blob length, u64 hash of key and blob, key, blob.
ByteVector BlobCache::read(ByteSpan key) const {
  std::error_code error;
  const fs::path path = path_of(key);
  const std::uint64_t size = fs::file_size(path, error);
  constexpr std::size_t header = magic.size() + 24;
  if (error || size < header + key.size() || size > header + key.size() + blob_bytes_max) return {};
  ByteVector file(size);
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(file.data()), static_cast<std::streamsize>(size)))
    return {};
  const ByteSpan bytes(file);
  const bool ours = std::ranges::equal(bytes.first(magic.size()), as_bytes(magic)) &&
                    read_le<std::uint64_t>(bytes, magic.size()) == key.size() &&
                    read_le<std::uint64_t>(bytes, magic.size() + 8) == size - header - key.size();
  if (!ours || !std::ranges::equal(bytes.subspan(header, key.size()), key)) return {};
  if (read_le<std::uint64_t>(bytes, magic.size() + 16) != hash(bytes.subspan(header))) return {};
  // The new time makes the file, which is in use, one of the last that are deleted.
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return ByteVector(file.begin() + static_cast<std::ptrdiff_t>(header + key.size()), file.end());
}

std::size_t BlobCache::load(ByteSpan key, std::span<std::uint8_t> out) {
  const std::scoped_lock lock(mutex_);
  if (!std::ranges::equal(last_key_, key) || last_blob_.empty()) {
    last_blob_ = read(key);
    last_key_.assign(key.begin(), key.end());
  }
  if (!out.empty() && out.size() == last_blob_.size()) {
    std::ranges::copy(last_blob_, out.begin());
    ++hits_;
    return std::exchange(last_blob_, {}).size();
  }
  return last_blob_.size();
}

void BlobCache::store(ByteSpan key, ByteSpan blob) {
  if (blob.empty() || blob.size() > blob_bytes_max) return;
  const std::scoped_lock lock(mutex_);
  ByteVector head(magic.begin(), magic.end());
  append_le(head, std::uint64_t{key.size()});
  append_le(head, std::uint64_t{blob.size()});
  append_le(head, hash(blob, hash(key)));
  append(head, key);

  const fs::path path = path_of(key);
  fs::path beside = path;
  beside += weft::format(".{}.{}", ::getpid(), stores_);
  std::error_code error;
  {
    std::ofstream stream(beside, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(head.data()),
                 static_cast<std::streamsize>(head.size()));
    stream.write(reinterpret_cast<const char*>(blob.data()),
                 static_cast<std::streamsize>(blob.size()));
    stream.flush();
    if (!stream) {
      fs::remove(beside, error);
      return;
    }
  }
  fs::rename(beside, path, error);
  if (error) {
    fs::remove(beside, error);
    return;
  }
  ++stores_;
  last_blob_.clear();
  bytes_ += head.size() + blob.size();
  if (bytes_ > options_.bytes_max) shrink();
}

// Counts the files again, because other processes write files too. If the folder is over the bound,
// removes files down to three quarters of the bound, so that files are rarely removed.
void BlobCache::shrink() {
  struct Row {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<Row> rows;
  bytes_ = 0;
  std::error_code error;
  for (fs::directory_iterator entry(options_.directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    // Temporary files of processes that have died ("....blob.PID.N") count, too.
    if (!entry->is_regular_file(ignored) ||
        entry->path().filename().string().find(extension) == std::string::npos)
      continue;
    rows.push_back({entry->last_write_time(ignored), entry->file_size(ignored), entry->path()});
    bytes_ += rows.back().size;
  }
  if (bytes_ <= options_.bytes_max) return;
  std::ranges::sort(rows, {}, &Row::used);
  for (const Row& row : rows) {
    if (bytes_ <= options_.bytes_max / 4 * 3) break;
    std::error_code ignored;
    fs::remove(row.path, ignored);
    bytes_ -= row.size;
  }
}

std::uint64_t BlobCache::hits() const {
  const std::scoped_lock lock(mutex_);
  return hits_;
}
std::uint64_t BlobCache::stores() const {
  const std::scoped_lock lock(mutex_);
  return stores_;
}

}  // namespace weft::gpu::native
