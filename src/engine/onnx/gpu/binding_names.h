// The names of bindings in a kernel's text: a0, a1, ... and y0, y1, ...
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace weft::onnx {

// True for what names consist of.
[[nodiscard]] bool is_name_letter(char letter);
// The text with names in place of others, where they stand by themselves.
[[nodiscard]] std::string renamed_bindings(
    std::string_view text, const std::map<std::string, std::string, std::less<>>& names);

}  // namespace weft::onnx
