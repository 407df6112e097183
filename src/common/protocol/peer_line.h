// The protocol of a direct line between two members of a chain (TLS over TCP, between native
// workers). The caller sends a hello, the callee answers with one byte of welcome, and frames
// (HopFrame, PingFrame) follow, each after its length.
//
//   caller   hello: "weft-line-1", chain, epoch, from, to, token
//   callee   welcome
//   both     u32 length, little-endian, then a frame of this length
//
// The token belongs to these two members for this epoch (Member::token).
//
// LineReader cuts the bytes of a socket into frames. It holds one frame at most; a longer frame is
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
// Fails with invalid_argument if the bytes are not a hello.
[[nodiscard]] Result<LineHello> decode_line_hello(ByteSpan bytes);

// Returns the frame, preceded by its length.
[[nodiscard]] ByteVector encode_line_frame(ByteSpan frame);

// True if the frame (a hop or a ping) goes from member `from` to member `to` in this epoch of this
// chain.
[[nodiscard]] bool belongs(ByteSpan frame, std::uint32_t chain, std::uint32_t epoch,
                           std::uint16_t from, std::uint16_t to);

class LineReader {
 public:
  // Calls `take` with every complete frame, in order, until it returns false; the rest is dropped
  // then. Fails for a length that no frame has; nothing more may be read after that.
  [[nodiscard]] Result<> read(ByteSpan bytes, const std::function<bool(ByteVector frame)>& take);

 private:
  ByteVector waiting_;  // A length and the part of its frame that has come.
};

}  // namespace weft::protocol::serving
