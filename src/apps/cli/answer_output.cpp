#include "apps/cli/answer_output.h"

#include <cstdio>
#include <string>
#include <unistd.h>

#include "common/base/visible_text.h"

namespace weft::cli {

void print_answer(std::string_view text) {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  if (terminal) {
    const std::string shown = visible_text(text, "\n\t");
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  std::fflush(stdout);
}

}  // namespace weft::cli
