// Chunks of model files on disk: a sparse file for each model beside a list of what of it is there.
// A reader checks the bytes, so that nothing here has to survive a crash.
//
// Threading: one thread. Several processes may use one folder: all write the same bytes.
// Bounds: `bytes_max` on the disk. The models that were opened or written least recently go first;
// what is mapped of them stays readable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/gguf/source.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

class ChunkFolder {
 public:
  // 0: no bound.
  ChunkFolder(std::filesystem::path folder, std::uint64_t bytes_max)
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  [[nodiscard]] std::optional<ByteVector> read(const ModelFile& file, std::uint32_t chunk) const;
  // unavailable if the disk does not take it, resource_exhausted if the whole model is larger
  // than the bound.
  [[nodiscard]] Result<> write(const ModelFile& file, std::uint32_t chunk, ByteSpan bytes) const;
  [[nodiscard]] Result<std::unique_ptr<gguf::Source>> open(const ModelFile& file) const;
  // The same as an open file to read from; the caller closes it.
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
