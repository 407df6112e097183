// A command's document as JSON: what --json prints and what is written beside models. Control
// characters in strings are escaped, members without a value are left out.
#pragma once

#include <string>

#include <glaze/glaze.hpp>

#include "common/base/check.h"

namespace weft::cli {

struct JsonLineOptions : glz::opts {
  bool escape_control_characters = true;
};

// With the newline at its end. `Document`: a struct of numbers, strings and the like, for which
// writing cannot fail.
template <class Document>
[[nodiscard]] std::string json_line(const Document& document) {
  std::string text;
  const auto error = glz::write<JsonLineOptions{}>(document, text);
  check(!error, "glaze writes a document");
  return text + '\n';
}

}  // namespace weft::cli
