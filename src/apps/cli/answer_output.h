// What a language model says, on standard output.
#pragma once

#include <string_view>

namespace weft::cli {

// Writes a piece of an answer at once. On a terminal, control characters except line feed and tab
// are shown as \xNN (common/base/visible_text.h): a model may say anything. A file or a pipe gets
// the bytes as they are.
void print_answer(std::string_view text);

}  // namespace weft::cli
