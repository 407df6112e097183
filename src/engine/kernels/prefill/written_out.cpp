#include "engine/kernels/prefill/written_out.h"

#include "common/base/check.h"

namespace weft::kernels {

void replace_mark(std::string& text, std::string_view mark, std::string_view with) {
  std::size_t count = 0;
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
    ++count;
  }
  check(count > 0, "the shader has the lines that are replaced");
}

}  // namespace weft::kernels
