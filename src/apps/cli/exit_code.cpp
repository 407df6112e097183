#include "apps/cli/exit_code.h"

#include <cstdio>

namespace weft::cli {

int report(const char* command, const Error& error) {
  std::fprintf(stderr, "weft %s: %s\n", command, error.message.c_str());
  return exit_code(error.code);
}

}  // namespace weft::cli
