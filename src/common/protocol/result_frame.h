// A result as a binary frame: u32 header length (little-endian) || JSON header || payload, at most
// frame_bytes_max. Decoding is as strict as that of text frames (codec.h).
#pragma once

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/protocol/hello.h"
#include "common/protocol/results.h"

namespace weft::protocol {

// A result with the bytes of its in-frame outputs, in order.
struct ResultFrame {
  TaskResult result;
  ByteVector payload;
};
// Fails with resource_exhausted if the frame is too large. `spoken` is the version that the
// receiver reads (codec.h).
[[nodiscard]] Result<ByteVector> encode_frame(const ResultFrame& frame,
                                              std::uint32_t spoken = version);
// Decodes a frame. The payload must be exactly as long as the in-frame outputs together.
[[nodiscard]] Result<ResultFrame> decode_frame(ByteSpan bytes);

}  // namespace weft::protocol
