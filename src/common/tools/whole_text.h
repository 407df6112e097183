// Turns bytes that come in pieces into whole characters. A piece may end inside a character, whose
// bytes are held back until the rest has come. Bytes that cannot become a character turn into
// U+FFFD, so the text is always UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace weft::tools {

class WholeText {
 public:
  // Returns the text that these bytes complete; it may be empty.
  [[nodiscard]] std::string push(std::string_view bytes);
  // Returns the text for the bytes that are held back, at the end.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::string take(std::size_t bytes);

  std::string held_;
};

}  // namespace weft::tools
