// Reads the text between the quotes of a template's string as Python does.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::jinja {

// Replaces the escapes \n \t \\ \' \" \xXX \uXXXX \UXXXXXXXX \ooo and others; an unknown escape
// stays as it is. Fails if the number of an escape is cut off or too large.
[[nodiscard]] Result<std::string> unescape_string(std::string_view text);

}  // namespace weft::jinja
