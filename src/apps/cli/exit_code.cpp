#include "apps/cli/exit_code.h"

#include <cstdio>

#include "common/base/visible_text.h"

namespace weft::cli {

int report(const char* command, const Error& error) {
  std::fprintf(stderr, "weft %s: %s\n", command, visible_text(error.message, "\n\t").c_str());
  return exit_code(error.code);
}

}  // namespace weft::cli
