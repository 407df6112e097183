// Messages of any length between two members of a chain, in frames of a bounded one, in order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"

namespace weft::protocol::serving {

// Calls `send` with the frames that carry the message.
void cut_hops(std::uint32_t chain, std::uint32_t epoch, std::uint16_t from, std::uint16_t to,
              ByteSpan message, const std::function<void(ByteVector frame)>& send);

class HopJoiner {
 public:
  // The message that this frame ends, or nothing yet. resource_exhausted beyond bytes_max.
  [[nodiscard]] Result<std::optional<ByteVector>> take(const HopFrame& frame);

 private:
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;
  std::map<std::uint16_t, ByteVector> parts_;  // By sender.
};

}  // namespace weft::protocol::serving
