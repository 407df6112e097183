#include "common/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft::utf8 {
namespace {

// The length of the character that begins with this byte; 0 if no character begins with it.
std::size_t announced_bytes(std::uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// True if `second` may follow `first`. The range of the second byte is narrower after some first
// bytes: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool second_fits(std::uint8_t first, std::uint8_t second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0 && second < 0xC0;
    case 0xED:
      return second >= 0x80 && second < 0xA0;
    case 0xF0:
      return second >= 0x90 && second < 0xC0;
    case 0xF4:
      return second >= 0x80 && second < 0x90;
    default:
      return second >= 0x80 && second < 0xC0;
  }
}

}  // namespace

Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {.code = first, .bytes = 1, .valid = true};
  const std::size_t length = announced_bytes(first);
  if (length == 0 || text.size() - at < length || !second_fits(first, byte(1))) return {};
  char32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  return {.code = code, .bytes = length, .valid = true};
}

void append(std::string& out, char32_t code) {
  const auto push = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0 | (code >> 6));
    push(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    push(0xE0 | (code >> 12));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  } else {
    push(0xF0 | (code >> 18));
    push(0x80 | ((code >> 12) & 0x3F));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  }
}

std::string encode(char32_t code) {
  std::string out;
  append(out, code);
  return out;
}

std::size_t find_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t word = 0;
    if (text.size() - at >= sizeof word) {  // Checks eight bytes of ASCII at a time.
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080ULL) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const Decoded decoded = decode(text, at);
    if (!decoded.valid) return at;
    at += decoded.bytes;
  }
  return std::string_view::npos;
}

std::string replace_invalid(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";  // The character U+FFFD in UTF-8.
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = decode(text, at);
    const std::string_view part = decoded.valid ? text.substr(at, decoded.bytes) : replacement;
    if (part.size() > bytes_max - out.size()) break;
    out += part;
    at += decoded.bytes;
  }
  return out;
}

std::string_view clip(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  // A character that is cut at bytes_max begins at most three bytes before bytes_max.
  for (std::size_t at = bytes_max - std::min<std::size_t>(3, bytes_max); at < bytes_max;) {
    const Decoded decoded = decode(text, at);
    if (decoded.valid && at + decoded.bytes > bytes_max) return text.substr(0, at);
    at += decoded.bytes;
  }
  return text.substr(0, bytes_max);
}

std::size_t begin_of_last(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return decode(text, at).bytes == end - at ? at : end - 1;
}

std::size_t unfinished_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<std::uint8_t>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    if (announced_bytes(byte) <= back) return 0;
    if (back >= 2 && !second_fits(byte, static_cast<std::uint8_t>(text[text.size() - back + 1])))
      return 0;
    return back;
  }
  return 0;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += decode(text, at).bytes;
  return count;
}

}  // namespace weft::utf8
