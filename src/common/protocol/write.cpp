#include "common/protocol/write.h"

#include <cmath>

#include <glaze/json/write.hpp>

namespace weft::protocol {
namespace {

struct WriteOptions : glz::opts {
  bool escape_control_characters = true;
};

// Bytes of the well-formed UTF-8 sequence that begins at `at`, 0 where there is none (Unicode 15, table 3-7).
std::size_t sequence_bytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return within(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    return within(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && within(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    return within(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

std::string readable(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = sequence_bytes(text, at);
    const std::string_view part = size == 0 ? "\uFFFD" : text.substr(at, size);
    if (out.size() + part.size() > bytes_max) break;
    out += part;
    at += std::max<std::size_t>(size, 1);
  }
  return out;
}

}  // namespace

void write_string(std::string& out, std::string_view text, std::size_t bytes_max) {
  std::string quoted;
  // Writing a string to a growing buffer has no way to fail.
  static_cast<void>(glz::write<WriteOptions{}>(readable(text, bytes_max), quoted));
  out += quoted;
}

void write_number(std::string& out, double value) {
  std::string text;
  static_cast<void>(glz::write_json(std::isfinite(value) ? value : 0.0, text));
  out += text;
}

}  // namespace weft::protocol
