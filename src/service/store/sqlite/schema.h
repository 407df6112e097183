// The tables, and how an older file is brought up to them. A step is added at the end and never changed afterwards.
#pragma once

#include "common/base/result.h"
#include "service/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Runs the steps that are missing, each in a transaction of its own. unsupported for a file of a newer Weft.
[[nodiscard]] Result<> migrate(Connection& connection);

[[nodiscard]] int schema_version();

}  // namespace weft::store::sqlite
