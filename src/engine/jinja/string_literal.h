// What stands between the quotes of a string in a template, as Python reads it.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::jinja {

// \n \t \\ \' \" \xXX \uXXXX \UXXXXXXXX \ooo and so on; an unknown escape stays as it is. Fails for
// a cut or absurd number.
[[nodiscard]] Result<std::string> unescape_string(std::string_view text);

}  // namespace weft::jinja
