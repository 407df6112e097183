// Text from a pattern and values, as std::format makes it. The pattern is checked when the program
// is compiled; the formatter itself is compiled once, in format.cpp, not in every source that
// formats something. Other folders use these functions and never std::format.
//
//   weft::format("Task {} failed after {:.1f} s.", index, seconds)
#pragma once

#include <format>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

template <class... Args>
using FormatString = std::format_string<Args...>;
using FormatArguments = std::format_args;

// The text of `pattern` with `arguments` in its fields. A pattern that does not fit its arguments
// ends the process: callers pass patterns that the compiler has checked.
[[nodiscard]] std::string vformat(std::string_view pattern, FormatArguments arguments);

template <class... Args>
[[nodiscard]] std::string format(FormatString<Args...> pattern, Args&&... arguments) {
  return weft::vformat(pattern.get(), std::make_format_args(arguments...));
}

}  // namespace weft
