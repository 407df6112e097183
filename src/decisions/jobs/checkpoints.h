// States of long tasks: stored with their task, handed out with its next lease, forgotten with its
// end.
//
// Which state a worker continues from: always its own wallet's. Another's only if no worker can be
// punished for the result (one replica and no audits): under a quorum one bad checkpoint would make
// replicas agree on a wrong result, and under audits it would convict a worker that continued from
// it. And never what a newcomer kept, which may be anything: a trusted worker that went on from it
// would vouch for it.
//
// Threading: one thread. Memory: a row for each open task and worker that has saved a state of it.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class Checkpoints {
 public:
  explicit Checkpoints(CoreTables& tables) : tables_(tables) {}
  Checkpoints(const Checkpoints&) = delete;

  // Rows of tasks that are not open are removed from the store. The jobs run already.
  void restore(std::span<const store::Checkpoint> rows);
  // A worker says that it has saved the state of a task. What is no state of it is not kept.
  void saved(const SavedState& saved, Moment now);

  void add_resume_points(protocol::Lease& lease, const PublicKey& worker);
  // The share that the worker says it resumed: never more than it could have had, which is its own
  // state if it may not continue from another's.
  [[nodiscard]] double resumed_share(const protocol::TaskResult& result,
                                     const PublicKey& worker) const;

  // The task, or all tasks of the job: rows go with the next flush, blobs after it.
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
  // Equal states of two workers are one blob.
  [[nodiscard]] bool names(const TaskId& task, const Hash& blob) const;
  [[nodiscard]] bool others_may_go_on(const RunningJob& job, const PublicKey& from) const;
  void forget_blob(const Hash& blob);

  CoreTables& tables_;
  std::map<TaskId, std::map<PublicKey, Kept>> kept_;  // By open task and worker.
};

}  // namespace weft::jobs
