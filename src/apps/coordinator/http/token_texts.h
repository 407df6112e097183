// What each token of a model says: a table, so that the coordinator writes the text of answers from
// numbers alone, whatever a worker would like them to say.
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
    bool is_control = false;    // Says nothing in an answer.
    bool ends_answer = false;   // The last one of an answer, and no part of its text.
    bool marks_a_call = false;  // Is written in an answer that may call tools.
  };

  // The next token; resource_exhausted past a bound.
  [[nodiscard]] Result<> add(std::string_view text, Kind kind);

  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  // A number that is no token says nothing, and is a control token.
  [[nodiscard]] std::string_view text(std::int32_t token) const;
  [[nodiscard]] Kind kind(std::int32_t token) const;

 private:
  [[nodiscard]] bool has(std::int32_t token) const {
    return token >= 0 && static_cast<std::size_t>(token) < size();
  }

  std::string bytes_;
  std::vector<std::uint32_t> ends_;  // Where each token's text ends in bytes_.
  std::vector<Kind> kinds_;
};

}  // namespace weft::coordinator
