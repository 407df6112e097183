// The tables, one for each kind of record, and the migration of older files.
//
// To change the tables: add a step at the end of `steps` in schema.cpp (SQL, a function that
// computes rows if SQL cannot, and SQL after that), never change a released step, and keep a data
// folder of the new version with tests/data/folders/make. A step is one transaction, together with
// its row in `schema_steps`, the list of versions that the file has passed. A file that is newer
// than the program is refused before any of it is changed.
//
// The ledger: `transactions` has what happened, `movements` the change of each account and its
// balance afterwards. Movements are only appended. Those of a transaction have consecutive numbers
// from transactions.movement on. Those of an account are a chain from accounts.last by
// movements.previous. So neither needs an index, whose changed pages would be spread over the whole
// file.
#pragma once

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

[[nodiscard]] int schema_version();

// Runs the missing steps, each in a transaction of its own. Fails with unsupported for a file of a
// newer Weft. Tests pass an earlier `version`.
[[nodiscard]] Result<> migrate(Connection& connection, int version = schema_version());

}  // namespace weft::store::sqlite
