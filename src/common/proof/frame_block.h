// The commitment of a member of a chain to the frames that it sends and receives: a Merkle root
// over up to 32 frames of one line, in their order, and the proof that a frame is one of them.
//
// A line is the sequence of frames that one member sends to the next (the last member sends to the
// first) in one epoch of a chain; it has the sender's number. Frames that hand over hidden states
// are numbered from 0 on. A block ends after 32 frames, and at a commit of the sender.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/proof/merkle.h"

namespace weft::proof {

inline constexpr std::uint32_t frame_block_max = 32;

struct FrameBlock {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t line = 0;
  std::uint32_t first = 0;  // Number of the block's first frame.
  std::uint32_t count = 0;  // Number of frames, 1 to frame_block_max.
  Hash root{};              // root_of_roots() over the SHA-256 of each frame.
  friend bool operator==(const FrameBlock&, const FrameBlock&) = default;
};
// SHA-256("weft-frames-1" || chain || epoch || line || first || count || root), u32 each: the text
// that a member signs, both as sender and as receiver.
[[nodiscard]] ByteVector frame_block_digest(const FrameBlock& block);

// A frame and its path to the root of its block.
struct FrameOpening {
  std::uint32_t line = 0;
  std::uint32_t number = 0;  // The number of the frame.
  std::uint32_t first = 0;   // Number of the first frame of its block.
  std::uint32_t count = 0;   // The number of frames of its block.
  std::vector<Hash> siblings{};
  ByteVector frame{};
};
// u32 line | u32 number | u32 first | u32 count | u8 siblings | 32 bytes each | the frame.
[[nodiscard]] ByteVector encode(const FrameOpening& opening);
// Fails with invalid_argument if the bytes are not a frame opening.
[[nodiscard]] Result<FrameOpening> decode_frame_opening(ByteSpan bytes);
// True if the frame is the one with its number in the block that has this root.
[[nodiscard]] bool opens(const FrameOpening& opening, const Hash& root);

}  // namespace weft::proof
