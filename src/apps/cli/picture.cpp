#include "apps/cli/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <png.h>
#include <vector>

#include "apps/cli/files.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t side_max = 16384;

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// A colour scale from deep blue over white and gold to wine red, with positions in thousandths.
struct Stop {
  int place;
  int red, green, blue;
};
constexpr std::array stops = {Stop{0, 6, 12, 60},       Stop{180, 24, 82, 177},
                              Stop{420, 236, 252, 255}, Stop{640, 255, 176, 20},
                              Stop{860, 140, 22, 40},   Stop{1000, 40, 6, 50}};

// Returns the colour of a value by its rank, which must be below `count`. It computes with integers
// only, so that every compiler gives the same colour.
Colour colour_at(std::uint64_t rank, std::uint64_t count) {
  const auto place = static_cast<int>(rank * 1000 / count);
  std::size_t next = 1;
  while (next + 1 < stops.size() && place > stops[next].place) ++next;
  const Stop& from = stops[next - 1];
  const Stop& to = stops[next];
  const auto mix = [&](int a, int b) {
    return static_cast<std::uint8_t>(a + (b - a) * (place - from.place) / (to.place - from.place));
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

template <class Number>
std::vector<Colour> colours(ByteSpan bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  std::vector<Number> sorted;
  for (const Number value : values) {
    if (value == value) sorted.push_back(value);  // The comparison is false for NaN.
  }
  std::ranges::sort(sorted);
  auto end = sorted.end();
  if constexpr (std::is_integral_v<Number>) {
    // The shared maximum is not ranked, unless all values are equal to it.
    const auto plateau = std::ranges::lower_bound(sorted, sorted.back());
    if (plateau != sorted.begin() &&
        sorted.end() - plateau > static_cast<std::ptrdiff_t>(sorted.size() / 1000))
      end = plateau;
  }
  const auto count = static_cast<std::uint64_t>(end - sorted.begin());
  std::vector<Colour> pixels(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) continue;  // Skips NaN.
    const auto [low, high] = std::equal_range(sorted.begin(), end, values[i]);
    // Equal values get the middle of their ranks.
    if (low != high)
      pixels[i] = colour_at(
          static_cast<std::uint64_t>((low - sorted.begin()) + (high - sorted.begin())) / 2, count);
  }
  return pixels;
}

Result<ByteVector> encode(const std::vector<Colour>& pixels, std::uint32_t width,
                          std::uint32_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  ByteVector png;
  png_alloc_size_t size = 0;
  // The first round computes the size, the second one writes the bytes.
  for (int round = 0; round < 2; ++round) {
    png.resize(size);
    if (png_image_write_to_memory(&image, round == 0 ? nullptr : png.data(), &size, 0,
                                  pixels.data(), 0, nullptr) == 0) {
      return fail(ErrorCode::internal, "The picture cannot be written: {}.", image.message);
    }
  }
  png.resize(size);
  return png;
}

}  // namespace

bool is_picture(std::string_view type, std::span<const std::uint64_t> shape) {
  return (type == "i32" || type == "u32" || type == "f32") && shape.size() == 2 &&
         std::ranges::all_of(shape,
                             [](std::uint64_t side) { return side >= 1 && side <= side_max; });
}

Result<ByteVector> picture_png(ByteSpan bytes, std::string_view type,
                               std::span<const std::uint64_t> shape) {
  if (!is_picture(type, shape))
    return fail(
        ErrorCode::invalid_argument,
        "The output cannot be drawn: a picture needs i32, u32 or f32 in two dimensions of 1 to {}.",
        side_max);
  if (bytes.size() != shape[0] * shape[1] * 4) {
    return fail(ErrorCode::invalid_argument,
                "The output cannot be drawn: {} bytes are not {} x {} elements of {}.",
                bytes.size(), shape[0], shape[1], type);
  }
  const auto pixels = type == "f32"   ? colours<float>(bytes)
                      : type == "i32" ? colours<std::int32_t>(bytes)
                                      : colours<std::uint32_t>(bytes);
  return encode(pixels, static_cast<std::uint32_t>(shape[1]), static_cast<std::uint32_t>(shape[0]));
}

Result<> write_picture(const std::filesystem::path& file, ByteSpan bytes, std::string_view type,
                       std::span<const std::uint64_t> shape) {
  WEFT_ASSIGN(const ByteVector png, picture_png(bytes, type, shape));
  return write_file(file, png);
}

}  // namespace weft::cli
