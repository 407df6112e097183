// Collects the text that a template writes. The body of a macro, a recursive loop and a few blocks
// write into a separate text.
//
// Errors: resource_exhausted if the text is longer than `bytes_max`. Threading: one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace weft::jinja {

class Output {
 public:
  explicit Output(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  [[nodiscard]] Result<> write(std::string_view text);
  [[nodiscard]] std::string take() { return std::move(text_); }

  // While this object lives, all output is collected in a separate text.
  class Apart {
   public:
    explicit Apart(Output& output) : output_(output), before_(output.to_) { output.to_ = &text_; }
    Apart(const Apart&) = delete;
    Apart& operator=(const Apart&) = delete;
    ~Apart() { output_.to_ = before_; }
    [[nodiscard]] std::string take() { return std::move(text_); }

   private:
    Output& output_;
    std::string* const before_;
    std::string text_;
  };

 private:
  const std::size_t bytes_max_;
  std::string text_;
  std::string* to_ = &text_;
};

}  // namespace weft::jinja
