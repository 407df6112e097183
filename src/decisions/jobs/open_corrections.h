// Accepted results that were found wrong and are replaced, whose money or whose job is not settled
// yet; and what owners owe to the clients of them together.
//
// Pure. Memory: a row for each of them.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "common/base/ids.h"
#include "common/records/records.h"
#include "decisions/jobs/accounts.h"

namespace weft::jobs {

// A correction whose money or whose job is not settled yet.
struct OpenCorrection {
  store::Correction row;
  bool computed = false;      // And so is all else that its worker was paid for.
  bool over = false;          // Nothing is owed any more.
  bool fee_given = false;     // The verification account gave what it got of the task.
  std::set<PublicKey> owe{};  // Those that agreed on the wrong result, where no
                              // conviction has paid.
};

class OpenCorrections {
 public:
  using Rows = std::map<TaskId, OpenCorrection>;

  explicit OpenCorrections(const Accounts& accounts) : accounts_(accounts) {}
  OpenCorrections(const OpenCorrections&) = delete;

  [[nodiscard]] const Rows& all() const { return rows_; }
  // Null where the task has none.
  [[nodiscard]] const OpenCorrection* find(const TaskId& task) const;
  [[nodiscard]] bool contains(const TaskId& task) const { return rows_.contains(task); }
  void put(OpenCorrection open);
  // To be changed until the next call of anything here; null where the task has none.
  [[nodiscard]] OpenCorrection* change(const TaskId& task);
  // All of them, to be changed until the next call of anything else here.
  [[nodiscard]] Rows& change_all();

  // To clients of wrong results of its workers, which may still be convicted.
  [[nodiscard]] MicroCredits owed_by(const OwnerId& owner) const;
  // What the client of the task has not got back yet of what it paid; nothing where it is no wrong
  // one.
  [[nodiscard]] std::optional<MicroCredits> owed_for(const TaskId& task) const;
  // Whether the job of a result of the client is not joined again yet.
  [[nodiscard]] bool waits_for_client(const PublicKey& client) const;

 private:
  const Accounts& accounts_;
  Rows rows_;
  mutable std::optional<std::map<OwnerId, MicroCredits>> owed_;  // Counted when asked for.
};

}  // namespace weft::jobs
