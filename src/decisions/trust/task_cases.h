// The tasks of running jobs that are more than a plain quorum: what is being checked of each, and
// what checks have found. A table; what follows from it is decided by the parts of the referee.
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
  Hash root;  // The result's root, once there.
  std::optional<PublicKey> accuser;
  // What is being audited is the result of this worker.
  PublicKey suspect = {};
  std::uint32_t audits = 0;              // So many were drawn.
  std::vector<Hash> rivals = {};         // Other results, when the latest was drawn.
  std::uint32_t part = 0;                // The latest of them,
  std::uint32_t samples = 1;             // and how many parts.
  std::vector<PublicKey> seconded = {};  // Established auditors that agreed.
  bool rootless = false;                 // There was no root to decide a dispute.
  bool root_agrees = false;              // A root has confirmed a part of `root`.
  bool believed = false;                 // It is decided, unless a root finds it wrong.
  Finding finding = {};                  // A root's, the latest.
  std::vector<Mismatch> mismatches = {};
};

struct JobCases {
  JobTerms terms;
  std::uint32_t tasks = 0;
  std::uint32_t held = 0;
  MicroCredits value = 0;
  std::map<std::uint32_t, TaskCase> cases;  // By index.
};

class TaskCases {
 public:
  void add_job(const JobId& id, JobTerms terms, std::uint32_t tasks);
  // Unknown jobs are nothing.
  void remove_job(const JobId& id) { jobs_.erase(id); }
  [[nodiscard]] JobCases* find(const JobId& id);
  [[nodiscard]] const JobCases* find(const JobId& id) const;
  // The job is there.
  [[nodiscard]] JobCases& at(const JobId& id) { return jobs_.at(id); }
  [[nodiscard]] const JobCases& at(const JobId& id) const { return jobs_.at(id); }

  // Null where the task has no case.
  [[nodiscard]] TaskCase* case_of(const TaskId& task);
  [[nodiscard]] const TaskCase* case_of(const TaskId& task) const;
  // The case of a known job's task; made for this worker, whose result comes with others, if there
  // is none yet.
  [[nodiscard]] TaskCase& case_for(const TaskId& task, const PublicKey& worker);

 private:
  std::map<JobId, JobCases> jobs_;
};

}  // namespace weft::trust
