// The model's file as a gguf::Source. The Worker reads the file synchronously from OPFS, from a
// File, or from memory outside of WebAssembly's memory.
#pragma once

#include "engine/gguf/source.h"

namespace weft::llm_web {

class JsSource final : public gguf::Source {
 public:
  JsSource();

  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override;
  [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t, std::uint64_t) const override {
    return std::nullopt;
  }

 private:
  std::uint64_t bytes_;
};

}  // namespace weft::llm_web
