// Checkpoints of long tasks: stored with their task, handed out with its next lease, and deleted
// when the task ends.
//
// A worker always continues from a checkpoint of its own wallet. It continues from another worker's
// checkpoint only if no worker can be punished for the result (one replica and no audits): with
// several replicas one bad checkpoint would make them agree on a wrong result, and with audits it
// would convict a worker that continued from it. A worker never continues from a newcomer's
// checkpoint, which may hold anything: a trusted worker that continued from it would vouch for it.
//
// Threading: one thread. Memory: a row for each open task and worker that has saved a checkpoint of
// it, and a name for each task of which a check asks for states.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class Checkpoints {
 public:
  explicit Checkpoints(CoreTables& tables) : tables_(tables) {}
  Checkpoints(const Checkpoints&) = delete;

  // Takes up the stored rows. Rows of tasks that are not open are removed from the store. The jobs
  // must run already.
  void restore(std::span<const store::Checkpoint> rows);
  // Takes a worker's report that it has saved a checkpoint of a task. A blob that is not a
  // checkpoint of this task is ignored.
  void saved(const SavedState& saved, Moment now);

  void add_resume_points(protocol::Lease& lease, const PublicKey& worker);
  // The share of the task that the worker says it resumed. It is bounded by the checkpoints that
  // the worker could have continued from: only its own if it may not continue from another
  // worker's.
  [[nodiscard]] double resumed_share(const protocol::TaskResult& result,
                                     const PublicKey& worker) const;

  // A check asks for states of the task, which are blobs like checkpoints: from hold() to let_go()
  // no blob of the task is removed. Otherwise another worker of the task could name one as its own
  // checkpoint, and have it removed before the check has read it. let_go() removes `states`, as
  // far as no checkpoint names them.
  void hold(const TaskId& task) { held_.insert(task); }
  void let_go(const TaskId& task, const std::vector<store::OutputBlob>& states);

  // Forget the checkpoints of the task, or of all tasks of the job. The rows are removed with the
  // next flush, the blobs after it.
  void forget(const TaskId& task);
  void forget(const JobId& job);

 private:
  struct Kept {
    Hash blob;
    std::uint64_t bytes = 0;
    std::uint32_t done = 0;
    std::uint32_t of = 1;
    [[nodiscard]] double share() const { return static_cast<double>(done) / of; }
  };
  void drop(const TaskId& task, const PublicKey& worker);
  // True if a checkpoint of the task names the blob. Equal checkpoints of two workers are one blob.
  [[nodiscard]] bool names(const TaskId& task, const Hash& blob) const;
  [[nodiscard]] bool others_may_go_on(const RunningJob& job, const PublicKey& from) const;
  void forget_blob(const TaskId& task, const Hash& blob);

  CoreTables& tables_;
  std::map<TaskId, std::map<PublicKey, Kept>> kept_;  // Checkpoints by open task and worker.
  std::set<TaskId> held_;
};

}  // namespace weft::jobs
