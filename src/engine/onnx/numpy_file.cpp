#include "engine/onnx/numpy_file.h"

#include <charconv>

namespace weft::onnx {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct TypeName {
  std::string_view code;
  ElementType type;
};
constexpr TypeName type_names[] = {{"<f4", ElementType::f32}, {"<f2", ElementType::f16},
                                   {"|u1", ElementType::u8},  {"|i1", ElementType::i8},
                                   {"<u2", ElementType::u16}, {"<i2", ElementType::i16},
                                   {"<i4", ElementType::i32}, {"<u4", ElementType::u32},
                                   {"<i8", ElementType::i64}, {"|b1", ElementType::boolean}};

std::unexpected<Error> malformed(std::string_view why) {
  return fail(ErrorCode::invalid_argument, "The bytes are not a .npy file: {}.", why);
}

// Returns the text after 'KEY': in the header, which is a Python dictionary.
std::optional<std::string_view> entry(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = header.find(':', at + key.size());
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::nullopt : std::optional(header.substr(begin));
}

Result<Shape> read_npy_shape(std::string_view text) {
  Shape shape;
  if (!text.starts_with('(')) return malformed("its shape is not a tuple");
  text.remove_prefix(1);
  while (true) {
    while (!text.empty() && (text[0] == ' ' || text[0] == ',')) text.remove_prefix(1);
    if (text.starts_with(')')) return shape;
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || shape.size() >= rank_max)
      return malformed("its shape is not a tuple of numbers");
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

}  // namespace

Result<Tensor> read_npy(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  if (!text.starts_with(magic) || text.size() < 10) return malformed("it does not begin as one");
  const unsigned version = bytes[6];
  if (version < 1 || version > 3) return malformed("its version is not 1, 2 or 3");
  std::size_t length = bytes[8] | bytes[9] << 8, begin = 10;
  if (version > 1) {
    if (text.size() < 12) return malformed("its header is cut off");
    length |= static_cast<std::size_t>(bytes[10]) << 16 | static_cast<std::size_t>(bytes[11]) << 24;
    begin = 12;
  }
  if (length > text.size() - begin) return malformed("its header is cut off");
  const std::string_view header = text.substr(begin, length);
  const auto descr = entry(header, "'descr'"), order = entry(header, "'fortran_order'"),
             shape_text = entry(header, "'shape'");
  if (!descr || !order || !shape_text) return malformed("its header lacks a key");
  if (!order->starts_with("False"))
    return fail(ErrorCode::unsupported, "A .npy file in Fortran order is not supported.");
  WEFT_ASSIGN(Shape shape, read_npy_shape(*shape_text));
  for (const TypeName& name : type_names) {
    if (descr->size() < 5 || descr->substr(1, 3) != name.code) continue;
    auto values = Tensor::from_bytes(
        name.type, std::move(shape),
        ByteVector(bytes.begin() + static_cast<std::ptrdiff_t>(begin + length), bytes.end()));
    if (values && name.type == ElementType::boolean)
      for (std::uint8_t& byte : values->mutable_bytes()) byte = byte != 0 ? 1 : 0;
    return values;
  }
  return fail(ErrorCode::unsupported, "A .npy file of type {} is not supported.",
              descr->substr(0, std::min<std::size_t>(descr->find(','), 12)));
}

ByteVector write_npy(const Tensor& tensor) {
  std::string_view code;
  for (const TypeName& name : type_names)
    if (name.type == tensor.type()) code = name.code;
  std::string shape;
  for (const std::int64_t size : tensor.shape()) shape += std::to_string(size) + ", ";
  std::string header =
      weft::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  header.append(63 - (magic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  ByteVector out;
  append(out, weft::as_bytes(magic));
  append(out, std::array<std::uint8_t, 4>{1, 0, static_cast<std::uint8_t>(header.size() & 0xFF),
                                          static_cast<std::uint8_t>(header.size() >> 8)});
  append(out, weft::as_bytes(header));
  append(out, tensor.bytes());
  return out;
}

}  // namespace weft::onnx
