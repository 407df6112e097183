// The form of a text in a JSON document.
#pragma once

#include <string>
#include <string_view>

namespace weft::json {

// The text in quotation marks, with control characters escaped. Text that is not UTF-8 gives a pair
// of quotation marks with no text between them.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace weft::json
