// What a member of a chain commits to of the frames that it sends and receives: a Merkle root over
// up to 32 frames of one line, in their order, and a frame shown to be one of them.
//
// A line is what one member sends to the next (from the last one: to the first) in one epoch of a
// chain, and has the sender's number. Frames that hand hidden states over are numbered from 0 on; a
// block ends behind 32 of them, and where the sender's commit comes between two.
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
  std::uint32_t first = 0;  // Number of its first frame.
  std::uint32_t count = 0;  // 1 to frame_block_max.
  Hash root{};              // root_of_roots() over the SHA-256 of each.
  friend bool operator==(const FrameBlock&, const FrameBlock&) = default;
};
// SHA-256("weft-frames-1" || chain || epoch || line || first || count || root), u32
// each: what the member signs, as sender and as receiver alike.
[[nodiscard]] ByteVector frame_block_digest(const FrameBlock& block);

// A frame and the way to its block's root.
struct FrameOpening {
  std::uint32_t line = 0;
  std::uint32_t number = 0;  // The frame's.
  std::uint32_t first = 0;   // Its block's,
  std::uint32_t count = 0;   // and how many that has.
  std::vector<Hash> siblings{};
  ByteVector frame{};
};
// u32 line | u32 number | u32 first | u32 count | u8 siblings | 32 bytes each | the frame.
[[nodiscard]] ByteVector encode(const FrameOpening& opening);
// invalid_argument if the bytes open no frame.
[[nodiscard]] Result<FrameOpening> decode_frame_opening(ByteSpan bytes);
// Whether the frame is that one of the block with this root.
[[nodiscard]] bool opens(const FrameOpening& opening, const Hash& root);

}  // namespace weft::proof
