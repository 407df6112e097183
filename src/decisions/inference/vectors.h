// Vectors that workers send: read, and held to what every one of them is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::inference {

// f32 in base64, little-endian: `width` finite numbers whose squares add up to 1, as far as f32
// says. One sentence for anything else.
[[nodiscard]] Result<std::vector<float>> read_vector(std::string_view base64, std::uint32_t width);

}  // namespace weft::inference
