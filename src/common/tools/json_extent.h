// How far a JSON value goes in a text that may end before it does.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::tools {

struct Extent {
  enum class Kind : unsigned char { whole, open, none };

  Kind kind = Kind::none;  // whole: `bytes` of it; open: it may go on; none: it is no object.
  std::size_t bytes = 0;
};
// The extent of an object or a list that begins with the first byte: brackets are counted, strings
// passed over. That it is JSON is for a parser to say.
[[nodiscard]] Extent json_extent(std::string_view text);

}  // namespace weft::tools
