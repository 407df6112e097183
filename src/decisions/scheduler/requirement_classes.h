// All classes of requirements (requirement_class.h), and the workers that fit each class. A class's
// address stays valid while the class has jobs or workers that fit it.
//
// Pure. Not safe to share between threads. Memory: all classes with jobs, and up to
// classes_kept_max classes without jobs.
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
  // The most classes without jobs that are kept for later jobs.
  static constexpr std::size_t classes_kept_max = 64;

  // The class of jobs with the requirements of this job. A new class is entered at each worker that
  // fits it, in O(workers); otherwise O(log classes).
  RequirementClass& of(const Job& job, const WorkerTable& workers, Instant now);
  // Enters the classes that the worker fits into its list. The worker is not counted in them yet.
  void enter(WorkerState& worker);
  // Removes a worker that leaves from its classes. It must neither be counted nor free in them any
  // more.
  static void leave(WorkerState& worker);

  [[nodiscard]] const ClassTable& all() const { return classes_; }

 private:
  void drop_unused(const WorkerTable& workers);

  ClassTable classes_;
};

}  // namespace weft::scheduler
