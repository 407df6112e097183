#include "engine/llm/chain/chain_frame.h"

#include <bit>
#include <utility>

#include "common/base/byte_reader.h"

namespace weft::llm {

static_assert(static_cast<std::uint8_t>(ChainFrame::Kind::pass) ==
                  std::to_underlying(proof::FrameKind::pass) &&
              static_cast<std::uint8_t>(ChainFrame::Kind::hidden) ==
                  std::to_underlying(proof::FrameKind::hidden) &&
              static_cast<std::uint8_t>(ChainFrame::Kind::commit) ==
                  std::to_underlying(proof::FrameKind::commit) &&
              static_cast<std::uint8_t>(ChainFrame::Want::hidden) ==
                  std::to_underlying(proof::FrameWant::hidden));

namespace {

constexpr std::size_t message_bytes_max = 1024;

void append_float(ByteVector& out, float value) {
  append_le(out, std::bit_cast<std::uint32_t>(value));
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
  // Logits and log-probabilities are always sent as f32, because they are few and callers compare
  // them.
  if (frame.kind != ChainFrame::Kind::pass) wire = Wire::f32;
  ByteVector out;
  out.reserve(40 + 4 * frame.tokens.size() + (wire == Wire::f32 ? 4 : 2) * frame.values.size() +
              frame.message.size());
  proof::append_activations(out,
                            {.kind = static_cast<std::uint8_t>(frame.kind),
                             .want = static_cast<std::uint8_t>(frame.want),
                             .wire = wire,
                             .sequence = frame.sequence,
                             .ticket = frame.ticket,
                             .at = frame.at},
                            frame.tokens, frame.values);
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
  proof::Activations rows = proof::read_activations(in);
  if (rows.head.kind > static_cast<std::uint8_t>(ChainFrame::Kind::together) ||
      rows.head.want > static_cast<std::uint8_t>(ChainFrame::Want::hidden))
    return broken("has an unknown format or kind");
  ChainFrame frame{.kind = static_cast<ChainFrame::Kind>(rows.head.kind),
                   .sequence = rows.head.sequence,
                   .ticket = rows.head.ticket,
                   .at = rows.head.at,
                   .want = static_cast<ChainFrame::Want>(rows.head.want),
                   .tokens = std::move(rows.tokens),
                   .values = std::move(rows.values)};
  if (frame.kind == ChainFrame::Kind::sampling) frame.sampling = read_sampling(in);
  if (frame.kind == ChainFrame::Kind::fault) {
    const auto code = in.integer<std::uint8_t>();
    if (code > static_cast<std::uint8_t>(ErrorCode::internal))
      return broken("reports a fault of an unknown kind");
    frame.code = static_cast<ErrorCode>(code);
    if (in.rest_bytes() > message_bytes_max) return broken("has a text that is too long");
    frame.message = std::string(as_text(in.take(in.rest_bytes())));
  }
  if (!in.at_end()) return broken("is shorter or longer than its header says");
  return frame;
}

}  // namespace weft::llm
