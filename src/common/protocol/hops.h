// Sends messages of any length between two members of a chain, in order, in frames of bounded
// length.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"

namespace weft::protocol::serving {

// Cuts the message into frames and calls `send` with each.
void cut_hops(std::uint32_t chain, std::uint32_t epoch, std::uint16_t from, std::uint16_t to,
              ByteSpan message, const std::function<void(ByteVector frame)>& send);

class HopJoiner {
 public:
  // Returns the message that this frame completes, or no value if more frames follow. Fails with
  // resource_exhausted beyond bytes_max.
  [[nodiscard]] Result<std::optional<ByteVector>> take(const HopFrame& frame);

 private:
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;
  std::map<std::uint16_t, ByteVector> parts_;  // Incomplete messages by their sender.
};

}  // namespace weft::protocol::serving
