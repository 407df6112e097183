// Reads JSON text into a Value. Keys keep their order; 2 becomes an int and 2.0 a float.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/result.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

inline constexpr std::size_t json_bytes_max = std::size_t{64} << 20;

// Fails with invalid_argument and the position if the text is not JSON or an object has a key
// twice.
[[nodiscard]] Result<Value> read_json(Heap& heap, std::string_view text);

}  // namespace weft::jinja
