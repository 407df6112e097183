// The extent of a JSON value in a text that may end before the value does.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::tools {

struct Extent {
  enum class Kind : unsigned char { whole, open, none };

  // whole: all `bytes` bytes are present; open: the end is missing; none: no object or list.
  Kind kind = Kind::none;
  std::size_t bytes = 0;
};
// The extent of an object or a list that begins with the first byte. It counts brackets and skips
// strings; a parser has to check that the text is JSON.
[[nodiscard]] Extent json_extent(std::string_view text);

}  // namespace weft::tools
