// The cache in which Dawn keeps compiled pipelines between runs: a folder with one file for each
// blob, named by a hash of Dawn's key.
//
// No function fails: a file that cannot be read, is cut short or has other content counts as
// missing, and a file that cannot be written is not kept. Files are written under another name and
// renamed, so that several processes may share a folder. Beyond bytes_max the files that were not
// used for longest are removed. Threading: any thread. Lifetime: until Dawn has destroyed the
// device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "common/base/bytes.h"

namespace weft::gpu::native {

class BlobCache {
 public:
  struct Options {
    std::filesystem::path directory;
    std::uint64_t bytes_max = std::uint64_t{256} << 20;
  };
  explicit BlobCache(Options options);
  BlobCache(const BlobCache&) = delete;

  // Returns the blob's size, and writes its bytes to `out` if `out` has exactly that size; 0 if
  // there is no blob.
  [[nodiscard]] std::size_t load(ByteSpan key, std::span<std::uint8_t> out);
  void store(ByteSpan key, ByteSpan blob);

  [[nodiscard]] std::uint64_t hits() const;
  [[nodiscard]] std::uint64_t stores() const;

 private:
  [[nodiscard]] std::filesystem::path path_of(ByteSpan key) const;
  [[nodiscard]] ByteVector read(ByteSpan key) const;
  void shrink();

  const Options options_;
  mutable std::mutex mutex_;
  ByteVector last_key_;  // Kept because Dawn asks first for the size of a blob, then for its bytes.
  ByteVector last_blob_;
  std::uint64_t bytes_ = 0;  // Bytes of the folder, as far as this process knows.
  std::uint64_t hits_ = 0;
  std::uint64_t stores_ = 0;
};

}  // namespace weft::gpu::native
