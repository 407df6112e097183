// Decides whether the worker or its device caused a result that a root found wrong, because the
// right answer on the worker's device may differ from the root's (docs/decisions/0022). A mismatch
// counts against its worker in the following two cases. In both, devices of two makers must find
// the result wrong:
// - a worker of the operator with a device of the same vendor has the task right; or
// - many more owners of devices of this vendor have the job right than wrong, and many of them,
//   drawn by the coordinator, compute the very part that is wrong and have it right (a poll).
//
// Not safe to share between threads. Memory: for each running job a tally of each vendor. For a job
// with a wrong result the same data is also stored (job_faults.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "decisions/trust/convictions.h"
#include "decisions/trust/job_faults.h"
#include "decisions/trust/mismatch.h"
#include "decisions/trust/mismatch_count.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class DeviceFault {
 public:
  DeviceFault(RefereeTables& tables, Convictions& convictions)
      : tables_(tables), convictions_(convictions), count_(tables, convictions) {}

  // Call it when a root has found a result of the worker wrong. The task has a case.
  void note(const TaskId& task, const PublicKey& worker, const Hash& root, RefereePass& pass);
  // Call it when an auditor has called a right result wrong. This counts as a wrong result of the
  // auditor, because its device may be the cause here, too.
  void note_refuted(const TaskId& task, TaskCase& closed, RefereePass& pass);
  // Call it when the right result of the task is known, to draw the consequences of the mismatches
  // in its case. A mismatch of a worker whose own root is accepted has no consequences.
  void settle(const TaskCase& closed, const Accepted& accepted, RefereePass& pass);
  // Call it when a root agrees with results of these workers.
  void note_right(const JobId& job, std::span<const PublicKey> workers, RefereePass& pass);
  // Takes a worker's answer to a PollWanted: the outcome of computing the named part; `failed` if
  // the worker did not compute it.
  void polled(const TaskId& task, const PublicKey& suspect, const PublicKey& worker,
              AuditOutcome outcome, RefereePass& pass);
  // True if, besides the root, a device of another vendor says that the result is wrong.
  [[nodiscard]] bool seen_twice(const Mismatch& mismatch, std::span<const PublicKey> right,
                                UnixMillis now) const;
  // Removes the job. A mismatch that no worker of the suspect's vendor has confirmed costs the
  // suspect nothing: its locked penalty is unlocked.
  void remove_job(const JobId& id);

  // The state of a job that must outlive a restart, from the job's first wrong result to its end.
  struct Changed {
    JobId job;
    std::optional<ByteVector> state;  // Empty if the stored state is to be deleted.
  };
  // Returns the jobs whose state changed since the last call.
  [[nodiscard]] std::vector<Changed> take_changed();
  // Restores the state of a job that was added and whose votes are restored. A poll that was under
  // way is asked for again, with the next result that a root finds right, of the workers that had
  // not answered. Fails with data_loss for bytes that take_changed() did not give.
  [[nodiscard]] Result<> restore(const JobId& id, ByteSpan state, RefereePass& pass);

 private:
  using Tally = VendorTally;
  using Job = JobFaults;

  [[nodiscard]] Tally& tally_of(const TaskId& task, const PublicKey& worker);
  void note_wrong(const TaskId& task, const PublicKey& worker, UnixMillis now);
  // The number of the vendor's owners that are right in the job, minus twice the number of those
  // that are wrong. The owner of the suspect counts as wrong.
  [[nodiscard]] std::ptrdiff_t lead_of_right(const Tally& tally, const PublicKey& suspect) const;
  using Shown = MismatchCount::Shown;
  // Call it when a root agrees with results of these workers. Adds to `shown` the mismatches that
  // are now shown to be their worker's fault. Returns true if the job's tallies have changed.
  [[nodiscard]] bool tally_right(const JobId& id, std::span<const PublicKey> workers,
                                 std::vector<Shown>& shown, UnixMillis now);
  // Begins the next poll of a job that has none under way.
  void poll(const JobId& id, RefereePass& pass);
  void ask_poll(Job& job, const std::string& vendor, Mismatch& mismatch, RefereePass& pass);
  // Removes the vendor's mismatches in the job; no further ones count.
  void drop(Tally& tally);
  [[nodiscard]] StoredFaults stored(const JobId& id) const;
  void restore_undecided(const Mismatch& mismatch, RefereePass& pass);

  RefereeTables& tables_;
  Convictions& convictions_;
  MismatchCount count_;
  std::map<JobId, Job> jobs_;
  std::set<JobId> changed_;
  std::set<JobId> stored_;  // The jobs whose state is stored.
};

}  // namespace weft::trust
