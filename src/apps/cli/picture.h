// Converts two-dimensional outputs to pictures. Equal numbers give equal PNG bytes on every
// machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::cli {

// True for rows of i32, u32 or f32 with at most 16384 elements along each side, which picture_png()
// accepts.
[[nodiscard]] bool is_picture(std::string_view type, std::span<const std::uint64_t> shape);

// Colours values by rank: a value's position among all values selects its colour, so that a picture
// has contrast whatever its range. The largest integer is black if many pixels share it (such as
// the limit of an iteration count), and NaN is black. Fails with invalid_argument if the bytes do
// not fit type and shape.
[[nodiscard]] Result<ByteVector> picture_png(ByteSpan bytes, std::string_view type,
                                             std::span<const std::uint64_t> shape);
[[nodiscard]] Result<> write_picture(const std::filesystem::path& file, ByteSpan bytes,
                                     std::string_view type, std::span<const std::uint64_t> shape);

}  // namespace weft::cli
