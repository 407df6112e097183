// Chunks of model files on disk: a sparse file for each model beside a list of what of it is there. Whoever reads checks the bytes,
// so that nothing here has to survive a crash.
//
// Threading: one thread. Several processes may use one folder: all write the same bytes.
#pragma once

#include <filesystem>
#include <optional>

#include "apps/worker/serving/serving_host.h"
#include "engine/gguf/source.h"

namespace weft::worker {

class ChunkFolder {
 public:
  explicit ChunkFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<ByteVector> read(const ModelFile& file, std::uint32_t chunk) const;
  // unavailable where the disk does not take it.
  [[nodiscard]] Result<> write(const ModelFile& file, std::uint32_t chunk, ByteSpan bytes) const;
  [[nodiscard]] Result<std::unique_ptr<gguf::Source>> open(const ModelFile& file) const;

 private:
  [[nodiscard]] std::filesystem::path weights(const ModelFile& file) const { return folder_ / (file.hash.text() + ".gguf"); }
  [[nodiscard]] std::filesystem::path list(const ModelFile& file) const { return folder_ / (file.hash.text() + ".chunks"); }

  const std::filesystem::path folder_;
};

}  // namespace weft::worker
