// Reads the rows of a query as records, and runs several queries on one state of the database.
//
// Threading: one thread at a time, as Connection. Fails as Connection and Statement do, and as the
// function that makes a row does.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Calls `take(statement)` -> Result<> for every row of a started statement.
template <class Take>
Result<> each_row(Statement& statement, Take take) {
  for (;;) {
    WEFT_ASSIGN(const bool row, statement.next());
    if (!row) return {};
    WEFT_OK(take(statement));
  }
}

// Returns every row of a started statement, converted by `make(statement)` -> Result<Row>.
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

// Returns every row of the query `sql`.
template <class Row, class Make, class... Values>
Result<std::vector<Row>> rows(Connection& connection, const std::string& sql, Make make,
                              const Values&... values) {
  WEFT_ASSIGN(Statement statement, connection.prepare(sql));
  statement.start(values...);
  return all_of<Row>(statement, std::move(make));
}

// Returns for example "t.a, t.b" for the columns "a, b" of the table "t".
[[nodiscard]] std::string prefixed(std::string_view table, std::string_view columns);

// Runs `use` in a read transaction, so that its queries see one state of the database.
template <class Use>
auto on_one_state(Connection& connection, Use use) -> decltype(use()) {
  WEFT_OK(connection.execute("BEGIN"));
  auto result = use();
  // A failure does not matter, because the transaction wrote nothing.
  (void)connection.execute("COMMIT");
  return result;
}

// Returns the row number of a job. Fails with not_found for an unknown job.
[[nodiscard]] Result<std::int64_t> job_row(Connection& connection, const JobId& id);

}  // namespace weft::store::sqlite
