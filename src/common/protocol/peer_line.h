// What goes over a direct line between two members of a chain (TLS over TCP, between native
// workers): after the caller's hello and the other's one byte of welcome, frames (HopFrame,
// PingFrame), each behind its length.
//
//   caller   hello: "weft-line-1", chain, epoch, from, to, token         the token is of these two
//   for this epoch (Member::token) callee   welcome both     u32 length, little-endian, and so many
//   bytes: a frame
//
// LineReader cuts what a socket gives into frames. It holds one frame at most; what is longer is
// refused before it is read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"

namespace weft::protocol::serving {

struct LineHello {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint16_t from = 0;
  std::uint16_t to = 0;
  std::array<std::uint8_t, 32> token{};
};
inline constexpr std::string_view line_greeting = "weft-line-1";
inline constexpr std::size_t line_hello_bytes = line_greeting.size() + 12 + 32;
inline constexpr std::uint8_t line_welcome = 0x57;
inline constexpr std::size_t line_frame_bytes_max = hop_header_bytes + hop_payload_bytes_max;

[[nodiscard]] ByteVector encode(const LineHello& hello);
// invalid_argument if the bytes are not a hello.
[[nodiscard]] Result<LineHello> decode_line_hello(ByteSpan bytes);

// The frame with its length in front.
[[nodiscard]] ByteVector encode_line_frame(ByteSpan frame);

// Whether a frame (a hop or a ping) is from that member to that one, in that epoch of that chain.
[[nodiscard]] bool belongs(ByteSpan frame, std::uint32_t chain, std::uint32_t epoch,
                           std::uint16_t from, std::uint16_t to);

class LineReader {
 public:
  // Calls `take` with every frame that is whole now, in order, until it returns false (the rest is
  // then dropped). An error, after which nothing more is to be read, for a length that no frame
  // has.
  [[nodiscard]] Result<> read(ByteSpan bytes, const std::function<bool(ByteVector frame)>& take);

 private:
  ByteVector waiting_;  // A length and as much of its frame as has come.
};

}  // namespace weft::protocol::serving
