// A source of a file's bytes: memory, a mapped file (mapped_file.h), or OPFS and HTTP ranges in the
// browser. Readers ask for ranges, so that a model need not fit into memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::gguf {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] virtual std::uint64_t bytes() const = 0;

  // Fills `out` with the bytes from `offset` on. Fails with invalid_argument past the end, and with
  // errors of the medium.
  [[nodiscard]] virtual Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;

  // Returns the range in memory, valid as long as the source, if the source has it in memory.
  // Returns nullopt otherwise, and for a range past the end.
  [[nodiscard]] virtual std::optional<ByteSpan> view(std::uint64_t offset,
                                                     std::uint64_t bytes) const = 0;
};

// A source of bytes that the caller owns. The bytes must outlive the source.
class MemorySource final : public Source {
 public:
  explicit MemorySource(ByteSpan bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t bytes() const override { return bytes_.size(); }
  [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    const auto range = view(offset, out.size());
    if (!range)
      return fail(ErrorCode::invalid_argument,
                  "The range of {} bytes at {} lies past the end of the file ({} bytes).",
                  out.size(), offset, bytes_.size());
    if (!out.empty()) std::memcpy(out.data(), range->data(), out.size());
    return {};
  }
  [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t offset,
                                             std::uint64_t bytes) const override {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) return std::nullopt;
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
  }

 private:
  ByteSpan bytes_;
};

}  // namespace weft::gguf
