// The tables, one for each kind of record, and how an older file is brought up to them.
//
// To change the tables: add a step at the end of `steps` in schema.cpp (SQL, a function that
// computes rows if SQL cannot, and SQL after that), never change one that was released, and keep a
// data folder of the new version with tests/data/folders/make. A step is one transaction with its
// entry in `schema_steps`, the list of versions that the file has passed; a file that is newer than
// the program is refused before anything in it is changed.
//
// The ledger: `transactions` says what happened, `movements` what that did to each account and what
// it held then. Movements are appended only: a transaction's are the numbers from
// transactions.movement on, and an account's are chained from accounts.last by movements.previous,
// so that neither needs an index whose pages are written all over the file.
#pragma once

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

[[nodiscard]] int schema_version();

// Runs the steps that are missing, each in a transaction of its own. unsupported for a file of a
// newer Weft. Tests stop earlier.
[[nodiscard]] Result<> migrate(Connection& connection, int version = schema_version());

}  // namespace weft::store::sqlite
