// Migrates files before schema version 4, which have records of several kinds in one table,
// `settings`: values whose names begin with a prefix of the kind. These forms are no longer
// written.
#pragma once

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Moves each row into the table of its kind. Fails with data_loss if an API key or a client's
// weight cannot be read. Other rows that cannot be read, or belong to no job, are omitted, which is
// logged.
[[nodiscard]] Result<> move_settings(Connection& connection);

}  // namespace weft::store::sqlite
