// Reads the state with which a coordinator starts: everything that does not belong to an ended job,
// in one state of the database.
//
// Threading: one thread at a time, as Connection. Fails with data_loss for a row that contradicts
// itself.
#pragma once

#include "platform/store/sqlite/connection.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

class StateReader {
 public:
  explicit StateReader(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<Loaded> load();

 private:
  [[nodiscard]] Result<Loaded> load_all();
  [[nodiscard]] Result<> load_running(Loaded& loaded);
  [[nodiscard]] Result<> load_open_replicas(Loaded& loaded);
  [[nodiscard]] Result<> load_money(Loaded& loaded);
  [[nodiscard]] Result<> load_workers(Loaded& loaded);
  [[nodiscard]] Result<> load_others(Loaded& loaded);
  [[nodiscard]] Result<> load_market(Loaded& loaded);
  [[nodiscard]] Result<> load_held(Loaded& loaded);
  [[nodiscard]] Result<> load_verdicts(Loaded& loaded);

  Connection& connection_;
};

}  // namespace weft::store::sqlite
