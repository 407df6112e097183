// The model's file where the Worker can read it synchronously: in OPFS, a File, or memory outside
// of WebAssembly's.
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
