// Two-dimensional outputs as pictures. The same numbers give the same bytes of PNG everywhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::cli {

// True for rows of i32, u32 or f32, at most 16384 along each side: what write_picture() takes.
[[nodiscard]] bool is_picture(std::string_view type, std::span<const std::uint64_t> shape);

// Colours by rank: a value's place among all values picks the colour, so that a picture has
// contrast whatever its range. A largest integer that many pixels share (what an iteration count
// stops at) is black, as is NaN. invalid_argument if the bytes are not what type and shape say.
[[nodiscard]] Result<ByteVector> picture_png(ByteSpan bytes, std::string_view type,
                                             std::span<const std::uint64_t> shape);
[[nodiscard]] Result<> write_picture(const std::filesystem::path& file, ByteSpan bytes,
                                     std::string_view type, std::span<const std::uint64_t> shape);

}  // namespace weft::cli
