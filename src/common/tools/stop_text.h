// Finds stop texts in text that comes in pieces, and holds back text that may be the beginning of
// one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

class StopText {
 public:
  // Empty stop texts are ignored.
  explicit StopText(std::vector<std::string> stops);

  // Returns the text that certainly comes before any stop text. Returns nothing after found().
  [[nodiscard]] std::string push(std::string_view text);
  // Returns the text that was held back, at the end.
  [[nodiscard]] std::string finish();
  [[nodiscard]] bool found() const { return found_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool found_ = false;
};

}  // namespace weft::tools
