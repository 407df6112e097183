// Results that are compared with a tolerance: trust hears of one when it has been compared,
// elsewhere, with all that differ from it.
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

  // Whether the result is being compared first: compared() hands it to trust then.
  bool compare_first(const RunningJob& job, const PublicKey& worker,
                     const protocol::TaskResult& result);
  void compared(const Comparison& comparison, Moment now);
  // Whether two roots of a task agree.
  [[nodiscard]] bool agree(const TaskId& task, const Hash& a, const Hash& b) const;

 private:
  CoreTables& tables_;
  Rulings& rulings_;
};

}  // namespace weft::jobs
