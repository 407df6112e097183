// Tells if this is a long run of the tests (`./weft test --long` sets WEFT_LONG=1), with statistics
// over more seeds, more crashes and longer texts. A quick run checks the same rules on fewer cases.
#pragma once

#include <cstdlib>

namespace weft::test {

inline bool long_tests() { return std::getenv("WEFT_LONG") != nullptr; }

}  // namespace weft::test
