// The names of bindings in the text of a kernel: a0, a1, ... for inputs and y0, y1, ... for
// outputs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace weft::onnx {

// True for the characters that a name may contain.
[[nodiscard]] bool is_name_letter(char letter);
// Returns the text with each name that is a key of `names` replaced by its value. Only whole names
// are replaced.
[[nodiscard]] std::string renamed_bindings(
    std::string_view text, const std::map<std::string, std::string, std::less<>>& names);

}  // namespace weft::onnx
