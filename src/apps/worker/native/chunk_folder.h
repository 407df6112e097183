// Stores chunks of model files on disk: for each model a sparse file and a list of the chunks that
// it has. Readers check the bytes, so nothing here has to survive a crash.
//
// Threading: one thread. Several processes may use one folder, because all write the same bytes.
// Bounds: `bytes_max` on the disk. The models that were opened or written least recently are
// removed first; mapped bytes of them stay readable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/gguf/source.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

class ChunkFolder {
 public:
  // A `bytes_max` of 0 means no bound.
  ChunkFolder(std::filesystem::path folder, std::uint64_t bytes_max)
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  [[nodiscard]] std::optional<ByteVector> read(const ModelFile& file, std::uint32_t chunk) const;
  // Fails with unavailable if the disk does not accept the chunk, and with resource_exhausted if
  // the whole model is larger than the bound.
  [[nodiscard]] Result<> write(const ModelFile& file, std::uint32_t chunk, ByteSpan bytes) const;
  [[nodiscard]] Result<std::unique_ptr<gguf::Source>> open(const ModelFile& file) const;
  // Returns a descriptor that is open for reading; the caller closes it.
  [[nodiscard]] Result<int> open_descriptor(const ModelFile& file) const;

 private:
  [[nodiscard]] std::filesystem::path weights(const ModelFile& file) const {
    return folder_ / (file.hash.text() + ".gguf");
  }
  [[nodiscard]] std::filesystem::path list(const ModelFile& file) const {
    return folder_ / (file.hash.text() + ".chunks");
  }

  void make_room(const ModelFile& file, std::uint64_t bytes) const;

  const std::filesystem::path folder_;
  const std::uint64_t bytes_max_;
};

}  // namespace weft::worker
