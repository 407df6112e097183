#include "common/protocol/write.h"

#include <cmath>

#include <glaze/json/write.hpp>

#include "common/base/utf8.h"

namespace weft::protocol {
namespace {

struct WriteOptions : glz::opts {
  bool escape_control_characters = true;
};

}  // namespace

void write_string(std::string& out, std::string_view text, std::size_t bytes_max) {
  std::string quoted;
  // Writing a string to a growing buffer cannot fail.
  static_cast<void>(glz::write<WriteOptions{}>(utf8::replace_invalid(text, bytes_max), quoted));
  out += quoted;
}

void write_number(std::string& out, double value) {
  std::string text;
  static_cast<void>(glz::write_json(std::isfinite(value) ? value : 0.0, text));
  out += text;
}

}  // namespace weft::protocol
