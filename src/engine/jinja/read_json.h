// JSON text to a Value: keys keep their order, 2 is an int and 2.0 a float.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/result.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

inline constexpr std::size_t json_bytes_max = std::size_t{64} << 20;

// Fails with invalid_argument and the place; keys that are there twice are refused.
[[nodiscard]] Result<Value> read_json(Heap& heap, std::string_view text);

}  // namespace weft::jinja
