#include "common/tools/whole_text.h"

#include "common/base/utf8.h"

namespace weft::tools {

std::string WholeText::push(std::string_view bytes) {
  held_ += bytes;
  return take(held_.size() - utf8::unfinished_bytes(held_));
}

std::string WholeText::finish() { return take(held_.size()); }

std::string WholeText::take(std::size_t bytes) {
  std::string out = utf8::replace_invalid(std::string_view(held_).substr(0, bytes));
  held_.erase(0, bytes);
  return out;
}

}  // namespace weft::tools
