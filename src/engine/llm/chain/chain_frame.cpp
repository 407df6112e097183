#include "engine/llm/chain/chain_frame.h"

#include <bit>
#include <cmath>

#include "engine/gguf/half.h"

namespace weft::llm {
namespace {

constexpr std::uint8_t format = 1;
constexpr std::size_t message_bytes_max = 1024;

void append_float(ByteVector& out, float value) { append_le(out, std::bit_cast<std::uint32_t>(value)); }

// Reads values one after the other; beyond the end everything is zero and `whole` is false.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : bytes_(bytes) {}

  template <class Integer>
  Integer integer() {
    Integer value = 0;
    if (rest() < sizeof(Integer)) {
      whole_ = false;
      at_ = bytes_.size();
      return value;
    }
    for (std::size_t i = 0; i < sizeof(Integer); ++i) value = static_cast<Integer>(value | static_cast<Integer>(bytes_[at_++]) << (8 * i));
    return value;
  }
  float number() { return std::bit_cast<float>(integer<std::uint32_t>()); }
  // A count of items of `bytes` each that are really there.
  std::size_t count(std::size_t bytes) {
    const std::size_t items = integer<std::uint32_t>();
    if (items > rest() / bytes) whole_ = false;
    return whole_ ? items : 0;
  }
  ByteSpan take(std::size_t bytes) {
    const ByteSpan out = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return out;
  }
  [[nodiscard]] std::size_t rest() const { return bytes_.size() - at_; }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  ByteSpan bytes_;
  std::size_t at_ = 0;
  bool whole_ = true;
};

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

Sampling read_sampling(Reader& in) {
  Sampling sampling;
  sampling.temperature = in.number();
  sampling.top_k = in.integer<std::uint32_t>();
  sampling.top_p = in.number();
  sampling.min_p = in.number();
  sampling.repetition_penalty = in.number();
  sampling.presence_penalty = in.number();
  sampling.frequency_penalty = in.number();
  sampling.penalty_window = in.integer<std::uint32_t>();
  sampling.seed = in.integer<std::uint64_t>();
  return sampling;
}

}  // namespace

ByteVector encode(const ChainFrame& frame, Wire wire) {
  // Logits and log-probabilities are not made smaller: there are few of them, and somebody compares them.
  const bool half = wire == Wire::f16 && frame.kind == ChainFrame::Kind::pass;
  ByteVector out;
  out.reserve(40 + 4 * frame.tokens.size() + (half ? 2 : 4) * frame.values.size() + frame.message.size());
  out.push_back(format);
  out.push_back(static_cast<std::uint8_t>(frame.kind));
  out.push_back(static_cast<std::uint8_t>(frame.want));
  out.push_back(half ? 1 : 0);
  append_le(out, frame.sequence);
  append_le(out, frame.ticket);
  append_le(out, frame.at);
  append_le(out, static_cast<std::uint32_t>(frame.tokens.size()));
  for (const Token token : frame.tokens) append_le(out, static_cast<std::uint32_t>(token));
  append_le(out, static_cast<std::uint32_t>(frame.values.size()));
  for (const float value : frame.values) {
    if (half) {
      append_le(out, gguf::float_to_half(value));
    } else {
      append_float(out, value);
    }
  }
  if (frame.kind == ChainFrame::Kind::sampling) append_sampling(out, frame.sampling);
  if (frame.kind == ChainFrame::Kind::fault) {
    out.push_back(static_cast<std::uint8_t>(frame.code));
    append(out, as_bytes(std::string_view(frame.message).substr(0, message_bytes_max)));
  }
  return out;
}

Result<ChainFrame> decode_chain_frame(ByteSpan bytes) {
  const auto broken = [](std::string_view what) { return fail(ErrorCode::invalid_argument, "A frame of a chain {}.", what); };
  if (bytes.size() > chain_frame_bytes_max) return broken("is over the bound of 16 MiB");
  Reader in(bytes);
  if (in.integer<std::uint8_t>() != format) return broken("is of another format");
  const auto kind = in.integer<std::uint8_t>();
  const auto want = in.integer<std::uint8_t>();
  const auto half = in.integer<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(ChainFrame::Kind::fault) || want > static_cast<std::uint8_t>(ChainFrame::Want::hidden) || half > 1)
    return broken("is of no kind that there is");
  ChainFrame frame;
  frame.kind = static_cast<ChainFrame::Kind>(kind);
  frame.want = static_cast<ChainFrame::Want>(want);
  frame.sequence = in.integer<std::uint32_t>();
  frame.ticket = in.integer<std::uint32_t>();
  frame.at = in.integer<std::uint32_t>();
  frame.tokens.resize(in.count(4));
  for (Token& token : frame.tokens) token = static_cast<Token>(in.integer<std::uint32_t>());
  frame.values.resize(in.count(half != 0 ? 2 : 4));
  for (float& value : frame.values) value = half != 0 ? gguf::half_to_float(in.integer<std::uint16_t>()) : in.number();
  if (frame.kind == ChainFrame::Kind::sampling) frame.sampling = read_sampling(in);
  if (frame.kind == ChainFrame::Kind::fault) {
    const auto code = in.integer<std::uint8_t>();
    if (code > static_cast<std::uint8_t>(ErrorCode::internal)) return broken("is a fault of no kind that there is");
    frame.code = static_cast<ErrorCode>(code);
    if (in.rest() > message_bytes_max) return broken("has a text that is too long");
    frame.message = std::string(as_text(in.take(in.rest())));
  }
  if (!in.whole() || in.rest() != 0) return broken("is cut short, or longer than it says");
  return frame;
}

}  // namespace weft::llm
