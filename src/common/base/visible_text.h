// Text of other parties, made safe for a terminal or a log: its control characters could begin
// another line, hide the text before them, or control the terminal.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The text with each control character (0 to 0x1f, 0x7f, and U+0080 to U+009f in UTF-8) as \xNN,
// except those in `kept`. All other bytes stay as they are.
[[nodiscard]] std::string visible_text(std::string_view text, std::string_view kept = "");

}  // namespace weft
