// How a text stands in a JSON document.
#pragma once

#include <string>
#include <string_view>

namespace weft::json {

// With its quotation marks; control characters are escaped. "" where the text is not UTF-8.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace weft::json
