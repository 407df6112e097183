#include "worker/camera/wire.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/base/byte_reader.h"
#include "common/base/match.h"
#include "common/base/utf8.h"

namespace weft::worker::camera {
namespace {

enum class Type : std::uint8_t {
  hello,
  model,
  model_part,
  frame,
  frame_part,
  ready,
  answer,
  refusal,
};
constexpr std::uint8_t version = 1;

struct CodeRange {
  char32_t first;
  char32_t last;
};
// Characters of Unicode's categories Cc, Cf, Zl and Zp: line breaks, and marks that are invisible
// or change the direction of the text around them (Unicode 15).
constexpr CodeRange invisible[] = {
    {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
    {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
    {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

bool is_invisible(char32_t code) {
  return std::ranges::any_of(
      invisible, [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

std::string with_visible_characters(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (is_invisible(next.code))
      out += ' ';
    else
      out += text.substr(at, next.bytes);
    at += next.bytes;
  }
  return out;
}

class Writer {
 public:
  template <class Integer>
  Writer& put(Integer value) {
    append_le(out_, value);
    return *this;
  }
  Writer& put(float value) { return put(std::bit_cast<std::uint32_t>(value)); }
  Writer& put(double value) { return put(std::bit_cast<std::uint64_t>(value)); }
  // Writes a text, cut to the bound between two characters.
  Writer& text(std::string_view value, std::size_t bytes_max) {
    const std::string_view cut = utf8::clip(value, bytes_max);
    put(static_cast<std::uint16_t>(cut.size()));
    append(out_, as_bytes(cut));
    return *this;
  }
  Writer& bytes(ByteSpan value) {
    append(out_, value);
    return *this;
  }
  ByteVector take() { return std::move(out_); }

 private:
  ByteVector out_;
};

// Reads the values of a record. If a value is missing or out of its bounds, is_right() is false.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : in_(bytes) {}

  template <class Integer>
  Integer integer(std::uint64_t least = 0, std::uint64_t most = UINT64_MAX) {
    const auto value = in_.integer<Integer>();
    right_ = right_ && value >= least && value <= most;
    return value;
  }
  template <class Real>
  Real real(Real least, Real most) {
    const auto value = in_.real<Real>();
    // A comparison with a number that is not one is false.
    right_ = right_ && std::isfinite(value) && value >= least && value <= most;
    return value;
  }
  std::string text(std::size_t bytes_max) {
    const auto size = integer<std::uint16_t>(0, bytes_max);
    if (!right_) return {};
    const std::string_view text = as_text(in_.take(size));
    right_ = right_ && utf8::is_valid(text);
    return right_ ? with_visible_characters(text) : std::string();
  }
  ByteVector rest(std::size_t bytes_max) {
    const std::size_t size = in_.rest_bytes();
    right_ = right_ && size >= 1 && size <= bytes_max;
    if (!right_) return {};
    const ByteSpan bytes = in_.take(size);
    return ByteVector(bytes.begin(), bytes.end());
  }
  [[nodiscard]] bool is_right() const { return right_ && in_.whole(); }
  [[nodiscard]] bool is_at_end() const { return right_ && in_.at_end(); }

 private:
  ByteReader in_;
  bool right_ = true;
};

constexpr double any = 1e300;

Model read_model(Reader& in, std::uint32_t number) {
  Model out{.number = number};
  out.bytes = in.integer<std::uint32_t>(1, model_bytes_max);
  out.name = in.text(name_bytes_max);
  return out;
}

Part read_part(Reader& in, std::uint32_t number, Part::Of of) {
  Part out{.of = of, .number = number};
  out.offset = in.integer<std::uint32_t>();
  out.bytes = in.rest(chunk_bytes_max);
  return out;
}

Frame read_frame(Reader& in, std::uint32_t number) {
  Frame out{.number = number};
  out.width = in.integer<std::uint16_t>(1, side_max);
  out.height = in.integer<std::uint16_t>(1, side_max);
  out.placement.left = in.real<double>(-any, any);
  out.placement.top = in.real<double>(-any, any);
  out.placement.scale_x = in.real<double>(1e-6, any);
  out.placement.scale_y = in.real<double>(1e-6, any);
  return out;
}

Ready read_ready(Reader& in, std::uint32_t number) {
  Ready out{.number = number};
  out.gpu = in.integer<std::uint8_t>(0, 1) == 1;
  out.device = in.text(name_bytes_max);
  return out;
}

Answer read_answer(Reader& in, std::uint32_t number) {
  Answer out{.number = number};
  out.milliseconds = in.real<float>(0, 1e7F);
  const auto count = in.integer<std::uint16_t>(0, boxes_max);
  for (std::size_t i = 0; i < count && in.is_right(); ++i) {
    Box box;
    box.class_id = in.integer<std::uint16_t>();
    box.score = in.real<float>(0, 1);
    for (float& side : box.sides) side = in.real<float>(-1e6F, 1e6F);
    box.label = in.text(label_bytes_max);
    out.boxes.push_back(std::move(box));
  }
  return out;
}

Refusal read_refusal(Reader& in, std::uint32_t number) {
  return {.number = number, .sentence = in.text(sentence_bytes_max)};
}

}  // namespace

ByteVector encode(const Record& record) {
  Writer to;
  const auto begin = [&](Type type, std::uint32_t number) -> Writer& {
    return to.put(static_cast<std::uint8_t>(type)).put(number);
  };
  std::visit(
      Match{[&](const Hello&) { to.put(static_cast<std::uint8_t>(Type::hello)).put(version); },
            [&](const Model& model) {
              begin(Type::model, model.number).put(model.bytes).text(model.name, name_bytes_max);
            },
            [&](const Part& part) {
              begin(part.of == Part::Of::model ? Type::model_part : Type::frame_part, part.number)
                  .put(part.offset)
                  .bytes(part.bytes);
            },
            [&](const Frame& frame) {
              begin(Type::frame, frame.number).put(frame.width).put(frame.height);
              to.put(frame.placement.left).put(frame.placement.top);
              to.put(frame.placement.scale_x).put(frame.placement.scale_y);
            },
            [&](const Ready& ready) {
              begin(Type::ready, ready.number).put(static_cast<std::uint8_t>(ready.gpu ? 1 : 0));
              to.text(ready.device, name_bytes_max);
            },
            [&](const Answer& answer) {
              const std::size_t count = std::min(answer.boxes.size(), boxes_max);
              begin(Type::answer, answer.number).put(answer.milliseconds);
              to.put(static_cast<std::uint16_t>(count));
              for (const Box& box : std::span(answer.boxes).first(count)) {
                to.put(box.class_id).put(box.score);
                for (const float side : box.sides) to.put(side);
                to.text(box.label, label_bytes_max);
              }
            },
            [&](const Refusal& refusal) {
              begin(Type::refusal, refusal.number).text(refusal.sentence, sentence_bytes_max);
            }},
      record);
  return to.take();
}

std::optional<Record> decode(ByteSpan bytes) {
  Reader in(bytes);
  const auto type =
      static_cast<Type>(in.integer<std::uint8_t>(0, static_cast<std::uint8_t>(Type::refusal)));
  if (!in.is_right()) return std::nullopt;
  if (type == Type::hello) {
    static_cast<void>(in.integer<std::uint8_t>(version, version));
    return in.is_at_end() ? std::optional<Record>(Hello()) : std::nullopt;
  }
  const auto number = in.integer<std::uint32_t>();
  std::optional<Record> out;
  switch (type) {
    case Type::hello:
      break;
    case Type::model:
      out = read_model(in, number);
      break;
    case Type::model_part:
      out = read_part(in, number, Part::Of::model);
      break;
    case Type::frame: {
      const Frame frame = read_frame(in, number);
      if (std::uint32_t{3} * frame.width * frame.height > frame_bytes_max) return std::nullopt;
      out = frame;
      break;
    }
    case Type::frame_part:
      out = read_part(in, number, Part::Of::frame);
      break;
    case Type::ready:
      out = read_ready(in, number);
      break;
    case Type::answer:
      out = read_answer(in, number);
      break;
    case Type::refusal:
      out = read_refusal(in, number);
      break;
  }
  return in.is_at_end() ? std::move(out) : std::nullopt;
}

Assembly::Taken Assembly::take(const Part& part) {
  if (part.number != number_ || part.offset != bytes_.size() ||
      part.bytes.size() > bytes_max_ - bytes_.size())
    return Taken::refused;
  append(bytes_, part.bytes);
  return bytes_.size() == bytes_max_ ? Taken::whole : Taken::more;
}

}  // namespace weft::worker::camera
