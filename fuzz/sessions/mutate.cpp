#include "fuzz/sessions/mutate.h"

#include <iterator>
#include <utility>
#include <vector>

namespace weft::sessions {

namespace {

// [first, past) of each value of a valid JSON text: strings, numbers, words, lists and objects.
std::vector<std::pair<std::size_t, std::size_t>> values_of(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '{' || c == '[') {
      open.push_back(i++);
    } else if (c == '}' || c == ']') {
      ++i;
      if (!open.empty()) {
        out.emplace_back(open.back(), i);
        open.pop_back();
      }
    } else if (c == '"') {
      const std::size_t from = i++;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      i = std::min(text.size(), i + 1);
      out.emplace_back(from, i);
    } else if (c == ',' || c == ':' || c == ' ' || c == '\n') {
      ++i;
    } else {
      const std::size_t from = i;
      while (i < text.size() && !std::string_view(",:]} \n").contains(text[i])) ++i;
      out.emplace_back(from, i);
    }
  }
  return out;
}

std::string odd_value(Random& random) {
  static constexpr const char* odd[] = {"0",
                                        "-1",
                                        "1",
                                        "1e308",
                                        "1e-320",
                                        "0.1",
                                        "4294967295",
                                        "4294967296",
                                        "9007199254740993",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "-9223372036854775808",
                                        "null",
                                        "true",
                                        "false",
                                        "\"\"",
                                        "\"\\u0000\"",
                                        "\"\\ud800\"",
                                        "\"a\\nb\"",
                                        "[]",
                                        "{}",
                                        "[[[[[[[[]]]]]]]]",
                                        "{\"a\":{\"a\":{\"a\":{}}}}"};
  if (random.chance(10)) return '"' + std::string(random.below(70'000), 'x') + '"';
  if (random.chance(10)) {
    std::string list = "[0";
    for (std::size_t i = random.below(5'000); i > 0; --i) list += ",0";
    return list + ']';
  }
  return odd[random.below(std::size(odd))];
}

void change_value(std::string& text, Random& random) {
  const auto values = values_of(text);
  if (values.empty()) return;
  const auto [from, past] = values[random.below(values.size())];
  switch (random.below(6)) {
    case 0:
    case 1:
      text.replace(from, past - from, odd_value(random));
      break;
    case 2: {  // Replaced by another value of the text.
      const auto [first, last] = values[random.below(values.size())];
      const std::string other = text.substr(first, last - first);
      text.replace(from, past - from, other);
      break;
    }
    case 3:  // The value is doubled, with a comma between.
      text.insert(past, "," + text.substr(from, past - from));
      break;
    case 4:
      text.erase(from, past - from);
      break;
    default:
      if (past - from > 2) text[from + 1 + random.below(past - from - 2)] ^= 1;
  }
}

}  // namespace

std::string mutate_bytes(std::string bytes, Random& random) {
  for (std::size_t changes = 1 + random.below(4); changes > 0; --changes) {
    const std::size_t at = random.below(bytes.size() + 1);
    switch (random.below(5)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes.erase(at, random.below(64));
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, random.below(64)));
        break;
      case 3:
        bytes.insert(at, random.bytes(1 + random.below(16)));
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

std::string mutate_json(std::string text, Random& random) {
  if (random.chance(10)) return mutate_bytes(std::move(text), random);
  for (std::size_t changes = 1 + random.below(3); changes > 0; --changes)
    change_value(text, random);
  return text;
}

std::string mutate_frame(std::string frame, Random& random) {
  constexpr std::size_t length_bytes = 4;
  if (frame.size() < length_bytes) return frame;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::size_t{static_cast<std::uint8_t>(frame[i])} << (8 * i);
  if (length > frame.size() - length_bytes) return frame;
  const std::string header = mutate_json(frame.substr(length_bytes, length), random);
  std::string out;
  for (std::size_t i = 0; i < length_bytes; ++i) out += static_cast<char>(header.size() >> (8 * i));
  return out + header + frame.substr(length_bytes + length);
}

std::string mutate_request(std::string text, Random& random) {
  static constexpr const char* lines[] = {"content-length: 18446744073709551615\r\n",
                                          "content-length: -1\r\n",
                                          "content-length: 5\r\n",
                                          "transfer-encoding: chunked\r\n",
                                          "transfer-encoding: gzip, chunked\r\n",
                                          "expect: 100-continue\r\n",
                                          "upgrade: websocket\r\nconnection: upgrade\r\n",
                                          "host: evil.example\r\n",
                                          "origin: http://evil.example\r\n",
                                          "sec-fetch-site: cross-site\r\n",
                                          "range: bytes=0-0\r\n",
                                          "range: bytes=5-2,-0\r\n",
                                          "content-range: bytes 0-1/99999999999999999999\r\n",
                                          "content-encoding: gzip\r\n",
                                          "if-none-match: *\r\n",
                                          "x-forwarded-for: 1.2.3.4, ::1\r\n",
                                          "authorization: Bearer\r\n",
                                          "authorization: Bearer weft-0\r\n",
                                          "connection: close\r\n",
                                          "cookie: a=b; JSESSIONID=x\r\n",
                                          "weft-time: 0\r\n",
                                          ": \r\n",
                                          "a\r\n"};
  for (std::size_t changes = 1 + random.below(3); changes > 0; --changes) {
    const auto line_end = text.find("\r\n");
    switch (random.below(7)) {
      case 0:
      case 1:
      case 2:
        if (line_end != std::string::npos)
          text.insert(line_end + 2, lines[random.below(std::size(lines))]);
        break;
      case 3:
        text.insert(0, text.substr(0, random.below(text.size() + 1)));
        break;
      case 4:
        if (line_end != std::string::npos)
          text.insert(line_end + 2, "a: " + std::string(random.below(40'000), 'b') + "\r\n");
        break;
      case 5: {
        const auto slash = text.find('/');
        if (slash != std::string::npos)
          text.insert(slash + 1, random.chance(50) ? "%2e%2e/%00" : "v1/../../");
        break;
      }
      default:
        text = mutate_bytes(std::move(text), random);
    }
  }
  return text;
}

}  // namespace weft::sessions
