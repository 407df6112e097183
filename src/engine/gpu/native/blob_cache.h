// Where Dawn keeps compiled pipelines between runs: a folder of files, one per blob, named by a
// hash of Dawn's key.
//
// Nothing here fails: what cannot be read, is cut short or is not what was stored counts as
// missing, and what cannot be written is not kept. Files are written beside and renamed, so that
// several processes may share a folder. Beyond bytes_max the files longest unused go. Threading:
// any thread. Lifetime: until Dawn has let go of the device.
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

  // The blob's size, and its bytes if `out` has exactly that size; 0 if there is none.
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
  ByteVector last_key_;  // Dawn asks twice for each blob: for its size, then for the bytes.
  ByteVector last_blob_;
  std::uint64_t bytes_ = 0;  // In the folder, as far as this process knows.
  std::uint64_t hits_ = 0;
  std::uint64_t stores_ = 0;
};

}  // namespace weft::gpu::native
