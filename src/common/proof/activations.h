// Hidden states on their way between the stages of a chain, as bytes: the head of every frame of a
// chain, and the whole of a frame that hands over rows. Stages and the coordinator read these
// bytes; senders sign roots over them (frame_block.h).
//
// u8 format | u8 kind | u8 want | u8 wire | u32 sequence | u32 ticket | u32 at | u32 count | count
// * u32 token | u32 count | the values in the format of `wire`; little-endian.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/byte_reader.h"
#include "common/base/bytes.h"

namespace weft::proof {

// The number format of hidden states in frames. f32 gives the numbers of the whole model; f16
// halves the bytes and changes probabilities a little; i8 takes 34 bytes for 32 numbers (a scale in
// f16, and the largest number as 127) and changes probabilities more.
enum class Wire : std::uint8_t { f32, f16, i8 };

// Numbers of kinds and wants, equal to those of engine/llm/chain. Kinds and wants of frames that no
// root covers have no name here.
enum class FrameKind : std::uint8_t { pass = 0, hidden = 5, fault = 6, commit = 7 };
enum class FrameWant : std::uint8_t { nothing = 0, hidden = 3 };

struct FrameHead {
  std::uint8_t kind = 0;
  std::uint8_t want = 0;
  Wire wire = Wire::f32;
  std::uint32_t sequence = 0;
  std::uint32_t ticket = 0;
  std::uint32_t at = 0;
};
struct Activations {
  FrameHead head{};
  std::vector<std::int32_t> tokens{};
  std::vector<float> values{};
};

void append_activations(ByteVector& out, const FrameHead& head,
                        std::span<const std::int32_t> tokens, std::span<const float> values);
// Reads a frame. An incomplete frame reads as empty (ByteReader). A frame of another format reads
// as kind 255, which no frame has.
[[nodiscard]] Activations read_activations(ByteReader& in);

// True if a frame hands over hidden states: rows for the next stage, or the last state.
[[nodiscard]] bool has_activations(ByteSpan frame);
[[nodiscard]] bool is_commit(ByteSpan frame);

}  // namespace weft::proof
