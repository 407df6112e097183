// Bytes that come in pieces, as whole characters: a piece may end inside a character, whose bytes
// are held back until the rest has come. Bytes that cannot become a character turn into U+FFFD, so
// that the text is UTF-8 throughout.
#pragma once

#include <string>
#include <string_view>

namespace weft::tools {

class WholeText {
 public:
  // The text that these bytes complete, perhaps none.
  [[nodiscard]] std::string push(std::string_view bytes);
  // What is still held back, at the end.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::string take(std::size_t bytes);

  std::string held_;
};

}  // namespace weft::tools
