// Functions that all writers use: they prepare a list of SQL texts, and make the error message for
// a row that is stored already.
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

// Replaces SQLite's message of an already_exists error, which only names columns, by the message
// that `what` makes.
template <class What>
[[nodiscard]] Result<> naming(Result<> result, What what) {
  if (result || result.error().code != ErrorCode::already_exists) return result;
  return fail(ErrorCode::already_exists, "{}", what());
}

}  // namespace weft::store::sqlite
