#include "engine/onnx/gpu/binding_names.h"

#include <cctype>

namespace weft::onnx {

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

std::string renamed_bindings(std::string_view text,
                             const std::map<std::string, std::string, std::less<>>& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_letter(text[at])) {
      out += text[at++];
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_name_letter(text[at])) ++at;
    const std::string_view name = text.substr(begin, at - begin);
    const auto other = names.find(name);
    if (other == names.end())
      out += name;
    else
      out += other->second;
  }
  return out;
}

}  // namespace weft::onnx
