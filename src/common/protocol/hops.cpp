#include "common/protocol/hops.h"

#include <algorithm>
#include <utility>

namespace weft::protocol::serving {

void cut_hops(std::uint32_t chain, std::uint32_t epoch, std::uint16_t from, std::uint16_t to,
              ByteSpan message, const std::function<void(ByteVector frame)>& send) {
  std::size_t at = 0;
  do {
    const std::size_t bytes = std::min(hop_payload_bytes_max, message.size() - at);
    const ByteSpan part = message.subspan(at, bytes);
    at += bytes;
    send(encode(HopFrame{.chain = chain,
                         .epoch = epoch,
                         .from = from,
                         .to = to,
                         .more = at < message.size(),
                         .payload = {part.begin(), part.end()}}));
  } while (at < message.size());
}

Result<std::optional<ByteVector>> HopJoiner::take(const HopFrame& frame) {
  ByteVector& whole = parts_[frame.from];
  if (whole.size() + frame.payload.size() > bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "A message of a chain is over the bound of {} bytes.", bytes_max);
  append(whole, frame.payload);
  if (frame.more) return std::nullopt;
  return std::exchange(whole, {});
}

}  // namespace weft::protocol::serving
