// What files before schema version 4 have in one table, `settings`: records of several kinds as
// values behind the prefixes of their names. Nothing writes these forms any more.
#pragma once

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Moves each row into the table of its kind. data_loss for an API key or a client's weight that
// cannot be read; other rows that cannot be read, or belong to no job, are left out, and the log
// says so.
[[nodiscard]] Result<> move_settings(Connection& connection);

}  // namespace weft::store::sqlite
