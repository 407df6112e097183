// All classes of requirements (requirement_class.h), and which workers fit which of them. A class's
// address stays the same while it has jobs or workers that fit it know it.
//
// Pure. Not safe to share between threads. Memory: classes_kept_max classes without jobs, and those
// with jobs.
#pragma once

#include <map>
#include <memory>

#include "common/base/clock.h"
#include "decisions/scheduler/requirement_class.h"
#include "decisions/scheduler/worker_table.h"

namespace weft::scheduler {

using ClassTable = std::map<ClassKey, std::unique_ptr<RequirementClass>>;

class RequirementClasses {
 public:
  // Classes without jobs are kept for the next job of their kind, up to this many classes.
  static constexpr std::size_t classes_kept_max = 64;

  // The class of jobs that ask for what this one does. One that is new is entered at each worker
  // that fits it. O(workers) then, otherwise O(log classes).
  RequirementClass& of(const Job& job, const WorkerTable& workers, Instant now);
  // Enters the classes that the worker fits, where it is not counted yet.
  void enter(WorkerState& worker);
  // The worker leaves; it is counted in no class and free in none.
  static void leave(WorkerState& worker);

  [[nodiscard]] const ClassTable& all() const { return classes_; }

 private:
  void drop_unused(const WorkerTable& workers);

  ClassTable classes_;
};

}  // namespace weft::scheduler
