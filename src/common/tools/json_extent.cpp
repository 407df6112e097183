#include "common/tools/json_extent.h"

namespace weft::tools {

Extent json_extent(std::string_view text) {
  if (text.empty()) return {.kind = Extent::Kind::open};
  if (text[0] != '{' && text[0] != '[') return {};
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return {.kind = Extent::Kind::whole, .bytes = i + 1};
    }
  }
  return {.kind = Extent::Kind::open};
}

}  // namespace weft::tools
