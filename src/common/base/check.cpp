#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weft {

void check_failed(std::string_view what, std::source_location where) {
  std::fprintf(stderr, "weft: a check failed at %s:%u in %s%s%.*s\n", where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name(), what.empty() ? "" : ": ",
               static_cast<int>(what.size()), what.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace weft
