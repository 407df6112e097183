#include "common/json/quote.h"

#include <glaze/glaze.hpp>

namespace weft::json {

namespace {

struct Writing : glz::opts {
  bool escape_control_characters = true;
};

}  // namespace

std::string quote(std::string_view text) { return glz::write<Writing{}>(text).value_or("\"\""); }

}  // namespace weft::json
