// Numbers with what they count, for sentences: "1 task", "3 tasks".
#pragma once

#include <concepts>
#include <format>
#include <string>
#include <string_view>

namespace weft {

template <std::integral Number>
[[nodiscard]] std::string counted(Number number, std::string_view noun) {
  return std::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace weft
