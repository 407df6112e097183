// All reads, on a separate connection, so that they do not wait for commits. Each part serves one
// group of the functions of Store.
//
// Threading: one caller at a time, because the parts share the connection.
#pragma once

#include <utility>

#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_reader.h"
#include "platform/store/sqlite/money_reader.h"
#include "platform/store/sqlite/state_reader.h"
#include "platform/store/sqlite/verdict_reader.h"

namespace weft::store::sqlite {

struct Reader {
  // The database must have the current schema.
  explicit Reader(Connection opened) : connection(std::move(opened)) {}
  Reader(const Reader&) = delete;

  Connection connection;
  StateReader state{connection};
  JobReader jobs{connection};
  MoneyReader money{connection};
  VerdictReader verdicts{connection};
};

}  // namespace weft::store::sqlite
