// Prints the answers of language models on standard output.
#pragma once

#include <string_view>

namespace weft::cli {

// Writes a piece of an answer at once. On a terminal, control characters except line feed and tab
// are shown as \xNN (common/base/visible_text.h), because a model may write any bytes. A file or a
// pipe gets the bytes unchanged.
void print_answer(std::string_view text);

}  // namespace weft::cli
