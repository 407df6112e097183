// A token, which is an index into the vocabulary of a model.
#pragma once

#include <cstdint>

namespace weft::tokenizer {

using Token = std::int32_t;
inline constexpr Token no_token = -1;

}  // namespace weft::tokenizer
