// Fuzzes the bytes of a peer on a direct line: they are cut into frames or refused. The result does
// not depend on how the socket cuts them, and nothing larger than a frame is held.
#include <vector>

#include "common/base/check.h"
#include "common/protocol/peer_line.h"

namespace {

using namespace weft;
namespace wire = protocol::serving;

std::pair<bool, std::vector<ByteVector>> cut(ByteSpan bytes, std::size_t step) {
  wire::LineReader reader;
  std::vector<ByteVector> frames;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto read =
        reader.read(bytes.subspan(at, std::min(step, bytes.size() - at)), [&](ByteVector frame) {
          check(!frame.empty() && frame.size() <= wire::line_frame_bytes_max,
                "a frame is within its bounds");
          frames.push_back(std::move(frame));
          return true;
        });
    if (!read) return {false, std::move(frames)};
  }
  return {true, std::move(frames)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(data, size);
  const auto whole = cut(bytes, std::max<std::size_t>(size, 1));
  check(whole == cut(bytes, 1), "frames do not depend on how the socket cuts them");
  for (const ByteVector& frame : whole.second) {
    if (const auto hop = wire::decode_hop(frame)) {
      check(wire::encode(*hop) == frame, "a hop has one form");
      check(wire::belongs(frame, hop->chain, hop->epoch, hop->from, hop->to),
            "a hop belongs where it says");
    }
    if (const auto ping = wire::decode_ping(frame))
      check(wire::encode(*ping) == frame, "a ping has one form");
  }
  if (const auto hello = wire::decode_line_hello(bytes))
    check(as_text(wire::encode(*hello)) == as_text(bytes), "a hello has one form");
  return 0;
}
