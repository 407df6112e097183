// Converts messages to frames and back. Text frame: one JSON object { "type", "v", ... }. Binary
// frame: u32 header length (little-endian) || JSON header || payload, at most frame_bytes_max.
// Decoding is strict and bounded: unknown, missing or duplicate keys, wrong types, too long lists
// and trailing text are invalid_argument, with the place.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/protocol/messages.h"

namespace weft::protocol {

// `spoken` is the version that the receiver reads: the version in the Challenge, or, before the
// Challenge is known, the first spoken version (versions.h). Fields of versions after `spoken` must
// have their default values.
[[nodiscard]] std::string encode(const WorkerMessage& message, std::uint32_t spoken = version);
[[nodiscard]] std::string encode(const CoordinatorMessage& message, std::uint32_t spoken = version);
[[nodiscard]] Result<WorkerMessage> decode_worker_message(std::string_view text);
[[nodiscard]] Result<CoordinatorMessage> decode_coordinator_message(std::string_view text);

}  // namespace weft::protocol
