// Numbers with what they count, for sentences: "1 task", "3 tasks".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "common/base/format.h"

namespace weft {

template <std::integral Number>
[[nodiscard]] std::string counted(Number number, std::string_view noun) {
  return weft::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace weft
