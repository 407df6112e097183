// The texts of a model's tokens as a table. The coordinator makes the text of answers from token
// ids alone, so that workers cannot put text of their own into answers.
//
// Threading: const once it is filled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::coordinator {

class TokenTexts {
 public:
  static constexpr std::size_t count_max = std::size_t{1} << 20;
  static constexpr std::size_t bytes_max = std::size_t{64} << 20;
  struct Kind {
    bool is_control = false;    // A control token, which has no text in an answer.
    bool ends_answer = false;   // Ends an answer; not part of its text.
    bool marks_a_call = false;  // Written only in answers that may call tools.
  };

  // Adds the text of the next token. Fails with resource_exhausted if a bound is exceeded.
  [[nodiscard]] Result<> add(std::string_view text, Kind kind);

  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  // The token's text. An unknown id has an empty text and is a control token.
  [[nodiscard]] std::string_view text(std::int32_t token) const;
  [[nodiscard]] Kind kind(std::int32_t token) const;

 private:
  [[nodiscard]] bool has(std::int32_t token) const {
    return token >= 0 && static_cast<std::size_t>(token) < size();
  }

  std::string bytes_;
  std::vector<std::uint32_t> ends_;  // End of each token's text in bytes_.
  std::vector<Kind> kinds_;
};

}  // namespace weft::coordinator
