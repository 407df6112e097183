#include "common/base/base64_url.h"

#include <algorithm>

namespace weft {

std::string to_base64_url(ByteSpan bytes) {
  std::string text = to_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.resize(std::min(text.size(), text.find('=')));
  return text;
}

std::optional<ByteVector> from_base64_url(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  while (padded.size() % 4 != 0) padded += '=';
  auto bytes = from_base64(padded);
  // Refuses the letters of plain base64, padding, and bits that are not zero at the end.
  if (!bytes || to_base64_url(*bytes) != text) return std::nullopt;
  return std::move(*bytes);
}

}  // namespace weft
