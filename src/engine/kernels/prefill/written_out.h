// Builds shaders whose statements over matrices are written out one by one, because compilers keep
// matrices in registers only if every index of a matrix is a constant.
#pragma once

#include <string>
#include <string_view>

namespace weft::kernels {

// Replaces every `mark` in the text by `with`; the text must have at least one mark.
void replace_mark(std::string& text, std::string_view mark, std::string_view with);

}  // namespace weft::kernels
