// Checks of conditions that only a bug can violate. A failed check prints its place and ends the
// process. Checks are on in release builds and are never a hint to the optimiser. Input from a
// file, a peer or a user is never checked this way: it gives a Result.
#pragma once

#include <source_location>
#include <string_view>

namespace weft {

[[noreturn]] void check_failed(std::string_view what, std::source_location where);

inline void check(bool condition, std::string_view what = "",
                  std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    check_failed(what, where);
}

}  // namespace weft
