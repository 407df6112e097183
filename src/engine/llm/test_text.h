// English text that tests of language models read.
#pragma once

#include <string>

#include "common/base/test_data.h"

namespace weft::llm::test {

// The first `bytes` bytes of a text by Shakespeare, at most 6,000.
inline std::string shakespeare(std::size_t bytes) {
  const auto path = weft::test::find_data("data/text/shakespeare-6k.txt");
  return weft::test::read_bytes(path.value()).substr(0, bytes);
}

}  // namespace weft::llm::test
