// The tables, and how an older file is brought up to them. A step is added at the end and never changed afterwards.
//
// The ledger: `transactions` says what happened, `movements` what that did to each account and what it held then. Movements are
// appended only: a transaction's are the numbers from transactions.movement on, and an account's are chained from
// accounts.last by movements.previous, so that neither needs an index whose pages are written all over the file.
#pragma once

#include "common/base/result.h"
#include "service/store/sqlite/connection.h"

namespace weft::store::sqlite {

[[nodiscard]] int schema_version();

// Runs the steps that are missing, each in a transaction of its own. unsupported for a file of a newer Weft. Tests stop earlier.
[[nodiscard]] Result<> migrate(Connection& connection, int version = schema_version());

}  // namespace weft::store::sqlite
