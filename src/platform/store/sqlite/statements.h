// What the parts that write have in common: a prepared statement for each of their texts, and words
// for a row that is there already.
#pragma once

#include <array>
#include <cstddef>

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

template <std::size_t count>
[[nodiscard]] Result<std::array<Statement, count>> prepare_all(
    Connection& connection, const std::array<const char*, count>& texts) {
  std::array<Statement, count> statements;
  for (std::size_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(statements[i], connection.prepare(texts[i]));
  }
  return statements;
}

// Says what was there already; SQLite knows only the names of columns. `what` makes the sentence,
// when it is needed.
template <class What>
[[nodiscard]] Result<> naming(Result<> result, What what) {
  if (result || result.error().code != ErrorCode::already_exists) return result;
  return fail(ErrorCode::already_exists, "{}", what());
}

}  // namespace weft::store::sqlite
