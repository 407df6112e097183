// Reading and checking of the vectors that workers send.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::inference {

// Reads `width` finite numbers, f32 in base64, little-endian, whose squares add up to 1 within the
// accuracy of f32. Fails with one sentence for anything else.
[[nodiscard]] Result<std::vector<float>> read_vector(std::string_view base64, std::uint32_t width);

}  // namespace weft::inference
