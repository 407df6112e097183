// Rows of a query as records, and several queries on one state of the database.
//
// Threading: as Connection. Errors: those of Connection and Statement, and what a row's maker says.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Calls `take(statement)` -> Result<> for every row of a statement that has been started.
template <class Take>
Result<> each_row(Statement& statement, Take take) {
  for (;;) {
    WEFT_ASSIGN(const bool row, statement.next());
    if (!row) return {};
    WEFT_OK(take(statement));
  }
}

// Every row of a statement that has been started, through `make(statement)` -> Result<Row>.
template <class Row, class Make>
Result<std::vector<Row>> all_of(Statement& statement, Make make) {
  std::vector<Row> all;
  WEFT_OK(each_row(statement, [&](const Statement& row) -> Result<> {
    WEFT_ASSIGN(Row made, make(row));
    all.push_back(std::move(made));
    return {};
  }));
  return all;
}

// Every row of `sql`.
template <class Row, class Make, class... Values>
Result<std::vector<Row>> rows(Connection& connection, const std::string& sql, Make make,
                              const Values&... values) {
  WEFT_ASSIGN(Statement statement, connection.prepare(sql));
  statement.start(values...);
  return all_of<Row>(statement, std::move(make));
}

// "t.a, t.b" of "a, b".
[[nodiscard]] std::string prefixed(std::string_view table, std::string_view columns);

// Runs `use` on one state of the database.
template <class Use>
auto on_one_state(Connection& connection, Use use) -> decltype(use()) {
  WEFT_OK(connection.execute("BEGIN"));
  auto result = use();
  (void)connection.execute("COMMIT");  // Nothing was written.
  return result;
}

// The row of a job; not_found for an unknown one.
[[nodiscard]] Result<std::int64_t> job_row(Connection& connection, const JobId& id);

}  // namespace weft::store::sqlite
