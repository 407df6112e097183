// Text of other parties for a terminal or a log: control characters could begin another line, hide
// what stands before them, or steer the terminal.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// Control characters (0 to 0x1f, 0x7f, and U+0080 to U+009f in UTF-8) as \xNN, except those in
// `kept`; all other bytes as they are.
[[nodiscard]] std::string visible_text(std::string_view text, std::string_view kept = "");

}  // namespace weft
