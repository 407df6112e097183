#include "decisions/inference/serving_views.h"

#include <array>
#include <cstddef>

namespace weft::inference {

std::string_view word(ModelState state) {
  constexpr std::array<std::string_view, 6> words{"",      "no worker", "loading",
                                                  "ready", "newcomers", "as jobs"};
  return words[static_cast<std::size_t>(state)];
}

std::string_view word(ChainState state) {
  constexpr std::array<std::string_view, 3> words{"loading", "linking", "ready"};
  return words[static_cast<std::size_t>(state)];
}

}  // namespace weft::inference
