// Results that are compared within a tolerance. World compares a result with all results of the
// task that differ from it; trust is told of the result only after that.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class ResultComparisons {
 public:
  ResultComparisons(CoreTables& tables, Rulings& rulings) : tables_(tables), rulings_(rulings) {}
  ResultComparisons(const ResultComparisons&) = delete;

  // Returns true if the result must be compared first; compared() then hands it to trust.
  bool compare_first(const RunningJob& job, const PublicKey& worker,
                     const protocol::TaskResult& result);
  void compared(const Comparison& comparison, Moment now);
  // True if two roots of a task agree within the tolerance.
  [[nodiscard]] bool agree(const TaskId& task, const Hash& a, const Hash& b) const;

 private:
  CoreTables& tables_;
  Rulings& rulings_;
};

}  // namespace weft::jobs
