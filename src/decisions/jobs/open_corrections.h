// Accepted results that were found wrong and replaced, as long as their money or their job is not
// settled. Also knows the sum that each owner owes to the clients of such results.
//
// Pure. Memory: a row for each such result.
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
  bool computed = false;   // All paid tasks of the worker, this one included, were computed again.
  bool over = false;       // Nothing more is owed to the client.
  bool fee_given = false;  // The verification account has returned its part of the price.
  // Workers that agreed on the wrong result and for which no conviction has paid.
  std::set<PublicKey> owe{};
};

class OpenCorrections {
 public:
  using Rows = std::map<TaskId, OpenCorrection>;

  explicit OpenCorrections(const Accounts& accounts) : accounts_(accounts) {}
  OpenCorrections(const OpenCorrections&) = delete;

  [[nodiscard]] const Rows& all() const { return rows_; }
  // Null if the task has no correction.
  [[nodiscard]] const OpenCorrection* find(const TaskId& task) const;
  [[nodiscard]] bool contains(const TaskId& task) const { return rows_.contains(task); }
  void put(OpenCorrection open);
  // The correction of the task, which may be changed until the next call of any function of this
  // class; null if the task has none.
  [[nodiscard]] OpenCorrection* change(const TaskId& task);
  // Returns all corrections for changes, valid until the next call of any other function of this
  // class.
  [[nodiscard]] Rows& change_all();

  // The sum that the owner owes to clients of wrong results of its workers, which may still be
  // convicted.
  [[nodiscard]] MicroCredits owed_by(const OwnerId& owner) const;
  // The part of its price that the client of the task has not got back yet; none if the task was
  // not found wrong.
  [[nodiscard]] std::optional<MicroCredits> owed_for(const TaskId& task) const;
  // True if a job of the client has a corrected result and is not joined again yet.
  [[nodiscard]] bool waits_for_client(const PublicKey& client) const;

 private:
  const Accounts& accounts_;
  Rows rows_;
  mutable std::optional<std::map<OwnerId, MicroCredits>> owed_;  // Computed when it is asked for.
};

}  // namespace weft::jobs
