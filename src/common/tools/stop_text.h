// Looks for stop texts in text that comes in pieces, and holds back what may be the beginning of
// one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

class StopText {
 public:
  // Empty texts never stop anything.
  explicit StopText(std::vector<std::string> stops);

  // What is certain to stand before any stop text. After found() nothing comes any more.
  [[nodiscard]] std::string push(std::string_view text);
  // What was held back, at the end.
  [[nodiscard]] std::string finish();
  [[nodiscard]] bool found() const { return found_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool found_ = false;
};

}  // namespace weft::tools
