#include "common/protocol/peer_line.h"

#include <algorithm>

#include "common/base/byte_reader.h"

namespace weft::protocol::serving {
namespace {

constexpr std::size_t length_bytes = 4;

}  // namespace

ByteVector encode(const LineHello& hello) {
  ByteVector out;
  out.reserve(line_hello_bytes);
  append(out, as_bytes(line_greeting));
  append_le(out, hello.chain);
  append_le(out, hello.epoch);
  append_le(out, hello.from);
  append_le(out, hello.to);
  append(out, hello.token);
  return out;
}

Result<LineHello> decode_line_hello(ByteSpan bytes) {
  if (bytes.size() != line_hello_bytes ||
      as_text(bytes.first(line_greeting.size())) != line_greeting)
    return fail(ErrorCode::invalid_argument,
                "These bytes are not the hello of a member of a chain: it has {} bytes and begins "
                "with \"{}\".",
                line_hello_bytes, line_greeting);
  constexpr std::size_t at = line_greeting.size();
  LineHello hello{.chain = read_le<std::uint32_t>(bytes, at),
                  .epoch = read_le<std::uint32_t>(bytes, at + 4),
                  .from = read_le<std::uint16_t>(bytes, at + 8),
                  .to = read_le<std::uint16_t>(bytes, at + 10)};
  std::ranges::copy(bytes.subspan(at + 12), hello.token.begin());
  return hello;
}

ByteVector encode_line_frame(ByteSpan frame) {
  ByteVector out;
  out.reserve(length_bytes + frame.size());
  append_le(out, static_cast<std::uint32_t>(frame.size()));
  append(out, frame);
  return out;
}

bool belongs(ByteSpan frame, std::uint32_t chain, std::uint32_t epoch, std::uint16_t from,
             std::uint16_t to) {
  // The fields of hops and pings have the same offsets.
  return frame.size() >= hop_header_bytes && read_le<std::uint32_t>(frame, 2) == chain &&
         read_le<std::uint32_t>(frame, 6) == epoch && read_le<std::uint16_t>(frame, 10) == from &&
         read_le<std::uint16_t>(frame, 12) == to;
}

Result<> LineReader::read(ByteSpan bytes, const std::function<bool(ByteVector frame)>& take) {
  while (!bytes.empty()) {
    if (waiting_.size() < length_bytes) {
      const std::size_t more = std::min(length_bytes - waiting_.size(), bytes.size());
      append(waiting_, bytes.first(more));
      bytes = bytes.subspan(more);
      if (waiting_.size() < length_bytes) return {};
    }
    const std::size_t length = read_le<std::uint32_t>(waiting_, 0);
    if (length == 0 || length > line_frame_bytes_max)
      return fail(ErrorCode::invalid_argument,
                  "A line between two members says that {} bytes follow; a frame has at most {}.",
                  length, line_frame_bytes_max);
    const std::size_t more = std::min(length_bytes + length - waiting_.size(), bytes.size());
    append(waiting_, bytes.first(more));
    bytes = bytes.subspan(more);
    if (waiting_.size() < length_bytes + length) return {};
    ByteVector frame(waiting_.begin() + length_bytes, waiting_.end());
    waiting_.clear();
    if (!take(std::move(frame))) return {};
  }
  return {};
}

}  // namespace weft::protocol::serving
