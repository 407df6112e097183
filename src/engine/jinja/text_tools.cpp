#include "engine/jinja/text_tools.h"

#include <algorithm>
#include <cstdint>

#include "common/base/utf8.h"
#include "engine/unicode/character.h"

namespace weft::jinja {
namespace {

using utf8::Decoded;

bool is_space_at(std::string_view text, std::size_t at) {
  return unicode::is_python_space(utf8::decode(text, at).code);
}

bool is_cased(char32_t code) {
  return unicode::is(code, unicode::Class::lower) || unicode::is(code, unicode::Class::upper);
}

std::size_t occurrences(std::string_view text, std::string_view part, long long count_max) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part);
       at != std::string_view::npos && (count_max < 0 || static_cast<long long>(count) < count_max);
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<std::uint8_t>(c) < 0x80; });
}

std::size_t length_of(std::string_view text) { return utf8::count_code_points(text); }

std::vector<std::size_t> code_point_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  offsets.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size(); at += utf8::decode(text, at).bytes)
    offsets.push_back(at);
  offsets.push_back(text.size());
  return offsets;
}

std::string_view strip(std::string_view text, StripSides sides,
                       std::optional<std::string_view> characters) {
  const auto goes = [&](std::size_t at, std::size_t bytes) {
    return characters ? characters->find(text.substr(at, bytes)) != std::string_view::npos
                      : is_space_at(text, at);
  };
  std::size_t begin = 0, end = text.size();
  while (sides.left && begin < end) {
    const std::size_t bytes = utf8::decode(text, begin).bytes;
    if (!goes(begin, bytes)) break;
    begin += bytes;
  }
  while (sides.right && end > begin) {
    const std::size_t last = utf8::begin_of_last(text, end);
    if (!goes(last, end - last)) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

std::vector<std::string_view> split_spaces(std::string_view text, long long splits_max) {
  std::vector<std::string_view> parts;
  text = strip(text, {.right = false}, std::nullopt);
  while (!text.empty()) {
    if (splits_max >= 0 && static_cast<long long>(parts.size()) == splits_max) {
      parts.push_back(strip(text, {.left = false}, std::nullopt));
      break;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_space_at(text, end)) end += utf8::decode(text, end).bytes;
    parts.push_back(text.substr(0, end));
    text = strip(text.substr(end), {.right = false}, std::nullopt);
  }
  return parts;
}

std::vector<std::string_view> split_spaces_from_right(std::string_view text, long long splits_max) {
  std::vector<std::string_view> parts;
  text = strip(text, {.left = false}, std::nullopt);
  while (!text.empty()) {
    if (splits_max >= 0 && static_cast<long long>(parts.size()) == splits_max) {
      parts.push_back(strip(text, {.right = false}, std::nullopt));
      break;
    }
    std::size_t begin = text.size();
    while (begin > 0) {
      const std::size_t last = utf8::begin_of_last(text, begin);
      if (is_space_at(text, last)) break;
      begin = last;
    }
    parts.push_back(text.substr(begin));
    text = strip(text.substr(0, begin), {.left = false}, std::nullopt);
  }
  std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator,
                                       long long splits_max) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator);
       at != std::string_view::npos &&
       (splits_max < 0 || static_cast<long long>(parts.size()) < splits_max);
       at = text.find(separator, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + separator.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

std::vector<std::string_view> split_at_from_right(std::string_view text, std::string_view separator,
                                                  long long splits_max) {
  std::vector<std::string_view> parts;
  while (splits_max < 0 || static_cast<long long>(parts.size()) < splits_max) {
    const std::size_t at = text.rfind(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  parts.push_back(text);
  std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = utf8::decode(text, at);
    const char32_t c = decoded.code;
    const bool ends = (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    std::size_t next = at + decoded.bytes;
    if (ends) {
      if (c == '\r' && next < text.size() && text[next] == '\n') ++next;
      lines.push_back(text.substr(from, (keep_ends ? next : at) - from));
      from = next;
    }
    at = next;
  }
  if (from < text.size()) lines.push_back(text.substr(from));
  return lines;
}

std::string to_lower(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = utf8::decode(text, at);
    unicode::append_lower(out, decoded.code);
    at += decoded.bytes;
  }
  return out;
}

std::string to_upper(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = utf8::decode(text, at);
    unicode::append_upper(out, decoded.code);
    at += decoded.bytes;
  }
  return out;
}

std::string to_title(std::string_view text) {
  std::string out;
  bool inside = false;  // True after a cased character, within a word.
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = utf8::decode(text, at);
    if (inside) {
      unicode::append_lower(out, decoded.code);
    } else {
      unicode::append_title(out, decoded.code);
    }
    inside = is_cased(decoded.code);
    at += decoded.bytes;
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  if (text.empty()) return "";
  const Decoded first = utf8::decode(text, 0);
  std::string out;
  unicode::append_title(out, first.code);
  return out + to_lower(text.substr(first.bytes));
}

std::string to_swapped_case(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = utf8::decode(text, at);
    if (unicode::is(decoded.code, unicode::Class::upper)) {
      unicode::append_lower(out, decoded.code);
    } else {
      unicode::append_upper(out, decoded.code);
    }
    at += decoded.bytes;
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::uint64_t replaced_bytes(std::string_view text, std::string_view from, std::string_view to,
                             long long count_max) {
  const std::uint64_t count =
      from.empty()
          ? std::min<std::uint64_t>(length_of(text) + 1, static_cast<std::uint64_t>(count_max))
          : occurrences(text, from, count_max);
  return text.size() + count * to.size() - count * from.size();
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to,
                        long long count_max) {
  std::string out;
  long long count = 0;
  const auto may = [&] { return count_max < 0 || count < count_max; };
  std::size_t at = 0;
  if (from.empty()) {  // Inserts `to` before every character and at the end.
    for (; at < text.size(); ++count) {
      if (!may()) break;
      const std::size_t bytes = utf8::decode(text, at).bytes;
      out.append(to).append(text.substr(at, bytes));
      at += bytes;
    }
    if (at == text.size() && may()) out += to;
    return out.append(text.substr(at));
  }
  for (std::size_t found = text.find(from); found != std::string_view::npos && may();
       found = text.find(from, at)) {
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
    ++count;
  }
  return out.append(text.substr(at));
}

}  // namespace weft::jinja
