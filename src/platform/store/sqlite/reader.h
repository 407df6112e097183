// Everything that is read: on a connection of its own, so that pages do not wait for commits. Each
// part reads what one idea of Store needs.
//
// Threading: one caller at a time, since the parts share the connection.
#pragma once

#include <utility>

#include "platform/store/sqlite/connection.h"
#include "platform/store/sqlite/job_reader.h"
#include "platform/store/sqlite/money_reader.h"
#include "platform/store/sqlite/state_reader.h"
#include "platform/store/sqlite/verdict_reader.h"

namespace weft::store::sqlite {

struct Reader {
  // The schema is the current one.
  explicit Reader(Connection opened) : connection(std::move(opened)) {}
  Reader(const Reader&) = delete;

  Connection connection;
  StateReader state{connection};
  JobReader jobs{connection};
  MoneyReader money{connection};
  VerdictReader verdicts{connection};
};

}  // namespace weft::store::sqlite
