// Writes a command's document as JSON, for --json and for files beside models. Control characters
// in strings are escaped, and members without a value are omitted.
#pragma once

#include <string>

#include <glaze/glaze.hpp>

#include "common/base/check.h"

namespace weft::cli {

struct JsonLineOptions : glz::opts {
  bool escape_control_characters = true;
};

// Returns the JSON with a line feed at its end. `Document` is a struct of numbers, strings and
// similar members, for which writing cannot fail.
template <class Document>
[[nodiscard]] std::string json_line(const Document& document) {
  std::string text;
  const auto error = glz::write<JsonLineOptions{}>(document, text);
  check(!error, "glaze writes a document");
  return text + '\n';
}

}  // namespace weft::cli
