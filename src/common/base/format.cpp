#include "common/base/format.h"

namespace weft {

std::string vformat(std::string_view pattern, FormatArguments arguments) {
  return std::vformat(pattern, arguments);
}

}  // namespace weft
