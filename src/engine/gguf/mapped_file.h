// A file that is mapped into memory, read-only. Its pages are read from disk when they are
// accessed. Native builds only.
#pragma once

#include <memory>
#include <string>

#include "engine/gguf/source.h"

namespace weft::gguf {

class MappedFile final : public Source {
 public:
  // Fails with not_found if the file cannot be opened, and with invalid_argument if it is not a
  // regular file.
  [[nodiscard]] static Result<std::unique_ptr<MappedFile>> open(const std::string& path);
  // Maps an open file and closes the descriptor. `name` is for messages.
  [[nodiscard]] static Result<std::unique_ptr<MappedFile>> of(int descriptor,
                                                              const std::string& name);
  ~MappedFile() override;

  [[nodiscard]] std::uint64_t bytes() const override { return memory_.bytes(); }
  [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    return memory_.read(offset, out);
  }
  [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t offset,
                                             std::uint64_t bytes) const override {
    return memory_.view(offset, bytes);
  }

 private:
  MappedFile(void* address, std::size_t bytes);
  void* address_;
  MemorySource memory_;
};

}  // namespace weft::gguf
