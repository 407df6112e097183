// A table of the tasks of running jobs that need more than a plain quorum: their checks that are
// under way, and the findings of checks. The parts of the referee decide what follows.
//
// Not safe to share between threads. Memory: a case for each open task that was leased to a worker
// alone, is checked or is disputed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/mismatch.h"
#include "decisions/trust/referee_settings.h"
#include "decisions/trust/replication_policy.h"
#include "decisions/trust/rulings.h"

namespace weft::trust {

enum class Stage : std::uint8_t { alone, newcomer, replicated, auditing, held, disputed };

struct TaskCase {
  Stage stage = Stage::alone;
  PublicKey worker;  // The worker that had the first lease.
  MicroCredits value = 0;
  CheckRates rates;
  Hash root;  // The root of the result, if it has arrived.
  std::optional<PublicKey> accuser;
  // The worker whose result is audited.
  PublicKey suspect = {};
  std::uint32_t audits = 0;              // The number of audits drawn so far.
  std::vector<Hash> rivals = {};         // Roots of other results at the latest audit.
  std::uint32_t part = 0;                // The first part of the latest audit.
  std::uint32_t samples = 1;             // Number of parts of the latest audit.
  std::vector<PublicKey> seconded = {};  // The established auditors that agreed.
  bool rootless = false;                 // A dispute had no root to decide it.
  bool root_agrees = false;              // A root has confirmed a part of `root`.
  bool believed = false;                 // The task is decided, unless a root finds it wrong.
  Finding finding = {};                  // The latest finding of a root.
  std::vector<Mismatch> mismatches = {};
};

struct JobCases {
  JobTerms terms;
  std::uint32_t tasks = 0;
  std::uint32_t held = 0;
  MicroCredits value = 0;
  std::map<std::uint32_t, TaskCase> cases;  // The cases by the index of their task.
};

class TaskCases {
 public:
  void add_job(const JobId& id, JobTerms terms, std::uint32_t tasks);
  // Removes the job's cases. Unknown jobs are ignored.
  void remove_job(const JobId& id) { jobs_.erase(id); }
  [[nodiscard]] JobCases* find(const JobId& id);
  [[nodiscard]] const JobCases* find(const JobId& id) const;
  // Returns the cases of a job, which must be known.
  [[nodiscard]] JobCases& at(const JobId& id) { return jobs_.at(id); }
  [[nodiscard]] const JobCases& at(const JobId& id) const { return jobs_.at(id); }

  // Returns nullptr if the task has no case.
  [[nodiscard]] TaskCase* case_of(const TaskId& task);
  [[nodiscard]] const TaskCase* case_of(const TaskId& task) const;
  // Returns the case of a task, whose job must be known. If the task has no case, one is made, with
  // `worker` as its first worker.
  [[nodiscard]] TaskCase& case_for(const TaskId& task, const PublicKey& worker);

 private:
  std::map<JobId, JobCases> jobs_;
};

}  // namespace weft::trust
