// Reads the header of a file from the first byte on, through a window, and never past an end that
// the caller sets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/gguf/source.h"

namespace weft::gguf {

class Reader {
 public:
  // Reads from `source`, and nothing beyond the offset `end`, which must lie within the source.
  Reader(const Source& source, std::uint64_t end) : source_(source), end_(end) {}

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t remaining() const { return end_ - offset_; }

  // Fills `out` with the next bytes. `what` names the part in the message if the file ends too
  // early.
  [[nodiscard]] Result<> read(std::span<std::uint8_t> out, std::string_view what) {
    if (out.size() > remaining() && end_ < source_.bytes())
      return fail(ErrorCode::invalid_argument,
                  "The header is longer than {} bytes (Limits::header_bytes_max).", end_);
    if (out.size() > remaining())
      return fail(ErrorCode::invalid_argument,
                  "The file ends (at byte {}) inside {}, which needs {} bytes at {}.", end_, what,
                  out.size(), offset_);
    while (!out.empty()) {
      if (window_at_ == window_.size()) WEFT_OK(refill());
      const std::size_t part = std::min(out.size(), window_.size() - window_at_);
      std::memcpy(out.data(), window_.data() + window_at_, part);
      out = out.subspan(part);
      window_at_ += part;
      offset_ += part;
    }
    return {};
  }

  template <class T>
  [[nodiscard]] Result<T> scalar(std::string_view what) {
    std::array<std::uint8_t, sizeof(T)> bytes;
    WEFT_OK(read(bytes, what));
    return std::bit_cast<T>(bytes);  // All supported machines are little-endian.
  }

 private:
  static constexpr std::size_t window_bytes = 1u << 18;

  [[nodiscard]] Result<> refill() {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, remaining()));
    if (const auto view = source_.view(offset_, bytes)) {
      window_ = *view;
    } else {
      buffer_.resize(bytes);
      WEFT_OK(source_.read(offset_, buffer_));
      window_ = buffer_;
    }
    window_at_ = 0;
    return {};
  }

  const Source& source_;
  const std::uint64_t end_;
  std::uint64_t offset_ = 0;
  ByteSpan window_;
  std::size_t window_at_ = 0;
  ByteVector buffer_;
};

}  // namespace weft::gguf
