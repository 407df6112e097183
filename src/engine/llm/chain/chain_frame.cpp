#include "engine/llm/chain/chain_frame.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "common/base/byte_reader.h"
#include "engine/gguf/half.h"

namespace weft::llm {
namespace {

constexpr std::uint8_t format = 1;
constexpr std::size_t message_bytes_max = 1024;
constexpr std::size_t block = 32;  // Numbers with a scale of their own.

void append_float(ByteVector& out, float value) {
  append_le(out, std::bit_cast<std::uint32_t>(value));
}

void append_values(ByteVector& out, std::span<const float> values, Wire wire) {
  if (wire == Wire::i8) {
    for (std::size_t at = 0; at < values.size(); at += block) {
      const auto part = values.subspan(at, std::min(block, values.size() - at));
      float largest = 0;
      for (const float value : part) largest = std::max(largest, std::abs(value));
      const std::uint16_t scale = gguf::float_to_half(largest / 127);
      const float step = gguf::half_to_float(scale);
      append_le(out, scale);
      for (const float value : part) {
        // The scale was rounded, perhaps to less.
        const float number = step > 0 ? std::clamp(std::round(value / step), -127.0F, 127.0F) : 0;
        out.push_back(static_cast<std::uint8_t>(static_cast<std::int8_t>(number)));
      }
    }
    return;
  }
  for (const float value : values) {
    if (wire == Wire::f16) {
      append_le(out, gguf::float_to_half(value));
    } else {
      append_float(out, value);
    }
  }
}

// As many as the bytes that are there can hold.
std::vector<float> read_values(ByteReader& in, Wire wire) {
  std::vector<float> values(in.count(wire == Wire::f32 ? 4 : wire == Wire::f16 ? 2 : 1));
  if (wire == Wire::i8) {
    for (std::size_t at = 0; at < values.size(); at += block) {
      const float step = gguf::half_to_float(in.integer<std::uint16_t>());
      for (std::size_t i = at; i < std::min(at + block, values.size()); ++i)
        values[i] = step * static_cast<float>(static_cast<std::int8_t>(in.integer<std::uint8_t>()));
    }
  } else {
    for (float& value : values)
      value =
          wire == Wire::f16 ? gguf::half_to_float(in.integer<std::uint16_t>()) : in.real<float>();
  }
  return values;
}

void append_sampling(ByteVector& out, const Sampling& sampling) {
  append_float(out, sampling.temperature);
  append_le(out, sampling.top_k);
  append_float(out, sampling.top_p);
  append_float(out, sampling.min_p);
  append_float(out, sampling.repetition_penalty);
  append_float(out, sampling.presence_penalty);
  append_float(out, sampling.frequency_penalty);
  append_le(out, sampling.penalty_window);
  append_le(out, sampling.seed);
}

Sampling read_sampling(ByteReader& in) {
  Sampling sampling;
  sampling.temperature = in.real<float>();
  sampling.top_k = in.integer<std::uint32_t>();
  sampling.top_p = in.real<float>();
  sampling.min_p = in.real<float>();
  sampling.repetition_penalty = in.real<float>();
  sampling.presence_penalty = in.real<float>();
  sampling.frequency_penalty = in.real<float>();
  sampling.penalty_window = in.integer<std::uint32_t>();
  sampling.seed = in.integer<std::uint64_t>();
  return sampling;
}

}  // namespace

ByteVector encode(const ChainFrame& frame, Wire wire) {
  // Logits and log-probabilities are not made smaller: there are few of them, and callers compare
  // them.
  if (frame.kind != ChainFrame::Kind::pass) wire = Wire::f32;
  ByteVector out;
  out.reserve(40 + 4 * frame.tokens.size() + (wire == Wire::f32 ? 4 : 2) * frame.values.size() +
              frame.message.size());
  out.push_back(format);
  out.push_back(static_cast<std::uint8_t>(frame.kind));
  out.push_back(static_cast<std::uint8_t>(frame.want));
  out.push_back(static_cast<std::uint8_t>(wire));
  append_le(out, frame.sequence);
  append_le(out, frame.ticket);
  append_le(out, frame.at);
  append_le(out, static_cast<std::uint32_t>(frame.tokens.size()));
  for (const Token token : frame.tokens) append_le(out, static_cast<std::uint32_t>(token));
  append_le(out, static_cast<std::uint32_t>(frame.values.size()));
  append_values(out, frame.values, wire);
  if (frame.kind == ChainFrame::Kind::sampling) append_sampling(out, frame.sampling);
  if (frame.kind == ChainFrame::Kind::fault) {
    out.push_back(static_cast<std::uint8_t>(frame.code));
    append(out, as_bytes(std::string_view(frame.message).substr(0, message_bytes_max)));
  }
  return out;
}

Result<ChainFrame> decode_chain_frame(ByteSpan bytes) {
  const auto broken = [](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "A frame of a chain {}.", what);
  };
  if (bytes.size() > chain_frame_bytes_max) return broken("is over the bound of 16 MiB");
  ByteReader in(bytes);
  if (in.integer<std::uint8_t>() != format) return broken("is of another format");
  const auto kind = in.integer<std::uint8_t>();
  const auto want = in.integer<std::uint8_t>();
  const auto wire = in.integer<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(ChainFrame::Kind::fault) ||
      want > static_cast<std::uint8_t>(ChainFrame::Want::hidden) ||
      wire > static_cast<std::uint8_t>(Wire::i8))
    return broken("is of no kind that there is");
  ChainFrame frame;
  frame.kind = static_cast<ChainFrame::Kind>(kind);
  frame.want = static_cast<ChainFrame::Want>(want);
  frame.sequence = in.integer<std::uint32_t>();
  frame.ticket = in.integer<std::uint32_t>();
  frame.at = in.integer<std::uint32_t>();
  frame.tokens.resize(in.count(4));
  for (Token& token : frame.tokens) token = static_cast<Token>(in.integer<std::uint32_t>());
  frame.values = read_values(in, static_cast<Wire>(wire));
  if (frame.kind == ChainFrame::Kind::sampling) frame.sampling = read_sampling(in);
  if (frame.kind == ChainFrame::Kind::fault) {
    const auto code = in.integer<std::uint8_t>();
    if (code > static_cast<std::uint8_t>(ErrorCode::internal))
      return broken("is a fault of no kind that there is");
    frame.code = static_cast<ErrorCode>(code);
    if (in.rest_bytes() > message_bytes_max) return broken("has a text that is too long");
    frame.message = std::string(as_text(in.take(in.rest_bytes())));
  }
  if (!in.at_end()) return broken("is cut short, or longer than it says");
  return frame;
}

}  // namespace weft::llm
