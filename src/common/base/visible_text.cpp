#include "common/base/visible_text.h"

#include "common/base/format.h"

namespace weft {

std::string visible_text(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if ((byte < 0x20 || byte == 0x7f) && !kept.contains(text[i])) {
      out += weft::format("\\x{:02x}", static_cast<unsigned>(byte));
    } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
      out += weft::format("\\x{:02x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace weft
