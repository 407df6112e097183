// The form of a text in a JSON document.
#pragma once

#include <string>
#include <string_view>

namespace weft::json {

// The text in quotation marks, with control characters escaped. "" if the text is not UTF-8.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace weft::json
