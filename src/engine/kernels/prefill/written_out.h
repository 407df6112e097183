// Shaders whose statements over matrices are written out one by one: matrices live in registers
// only as long as none is picked by a number that the compiler does not know.
#pragma once

#include <string>
#include <string_view>

namespace weft::kernels {

// Every `mark` in the text becomes `with`; there is at least one.
void replace_mark(std::string& text, std::string_view mark, std::string_view with);

}  // namespace weft::kernels
