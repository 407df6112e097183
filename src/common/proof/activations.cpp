#include "common/proof/activations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "common/proof/half.h"

namespace weft::proof {
namespace {

constexpr std::uint8_t format = 1;
constexpr std::size_t block = 32;  // The count of numbers that share one scale.

void append_float(ByteVector& out, float value) {
  append_le(out, std::bit_cast<std::uint32_t>(value));
}

void append_values(ByteVector& out, std::span<const float> values, Wire wire) {
  if (wire == Wire::i8) {
    for (std::size_t at = 0; at < values.size(); at += block) {
      const auto part = values.subspan(at, std::min(block, values.size() - at));
      float largest = 0;
      for (const float value : part) largest = std::max(largest, std::abs(value));
      const std::uint16_t scale = to_half(largest / 127);
      const float step = from_half(scale);
      append_le(out, scale);
      for (const float value : part) {
        // Clamped, because a scale that was rounded down would give more than 127 for the largest
        // number.
        const float number = step > 0 ? std::clamp(std::round(value / step), -127.0F, 127.0F) : 0;
        out.push_back(static_cast<std::uint8_t>(static_cast<std::int8_t>(number)));
      }
    }
    return;
  }
  for (const float value : values) {
    if (wire == Wire::f16) {
      append_le(out, to_half(value));
    } else {
      append_float(out, value);
    }
  }
}

// Reads at most as many values as the remaining bytes can hold.
std::vector<float> read_values(ByteReader& in, Wire wire) {
  std::vector<float> values(in.count(wire == Wire::f32 ? 4 : wire == Wire::f16 ? 2 : 1));
  if (wire == Wire::i8) {
    for (std::size_t at = 0; at < values.size(); at += block) {
      const float step = from_half(in.integer<std::uint16_t>());
      for (std::size_t i = at; i < std::min(at + block, values.size()); ++i)
        values[i] = step * static_cast<float>(static_cast<std::int8_t>(in.integer<std::uint8_t>()));
    }
  } else {
    for (float& value : values)
      value = wire == Wire::f16 ? from_half(in.integer<std::uint16_t>()) : in.real<float>();
  }
  return values;
}

bool is_kind(ByteSpan frame, FrameKind kind) {
  return frame.size() > 1 && frame[0] == format && frame[1] == std::to_underlying(kind);
}

}  // namespace

void append_activations(ByteVector& out, const FrameHead& head,
                        std::span<const std::int32_t> tokens, std::span<const float> values) {
  out.push_back(format);
  out.push_back(head.kind);
  out.push_back(head.want);
  out.push_back(std::to_underlying(head.wire));
  append_le(out, head.sequence);
  append_le(out, head.ticket);
  append_le(out, head.at);
  append_le(out, static_cast<std::uint32_t>(tokens.size()));
  for (const std::int32_t token : tokens) append_le(out, static_cast<std::uint32_t>(token));
  append_le(out, static_cast<std::uint32_t>(values.size()));
  append_values(out, values, head.wire);
}

Activations read_activations(ByteReader& in) {
  constexpr std::uint8_t none = 255;
  Activations out;
  const bool known = in.integer<std::uint8_t>() == format;
  out.head.kind = in.integer<std::uint8_t>();
  out.head.want = in.integer<std::uint8_t>();
  const auto wire = in.integer<std::uint8_t>();
  if (!known || wire > std::to_underlying(Wire::i8)) {
    out.head.kind = none;
    return out;
  }
  out.head.wire = static_cast<Wire>(wire);
  out.head.sequence = in.integer<std::uint32_t>();
  out.head.ticket = in.integer<std::uint32_t>();
  out.head.at = in.integer<std::uint32_t>();
  out.tokens.resize(in.count(4));
  for (std::int32_t& token : out.tokens)
    token = static_cast<std::int32_t>(in.integer<std::uint32_t>());
  out.values = read_values(in, out.head.wire);
  return out;
}

bool has_activations(ByteSpan frame) {
  return is_kind(frame, FrameKind::pass) || is_kind(frame, FrameKind::hidden);
}
bool is_commit(ByteSpan frame) { return is_kind(frame, FrameKind::commit); }

}  // namespace weft::proof
