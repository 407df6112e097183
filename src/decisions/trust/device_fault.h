// Whose fault a result is that a root found wrong: the worker's, or its device's, whose right
// answer may be another (docs/decisions/0022). A mismatch counts against its worker if devices of
// two makers say that it is wrong, and a worker of the operator's with a device of the same vendor
// has it right; or many more owners of such devices have the job right than wrong, and many of
// them, drawn by the coordinator, compute that very part and have it right (a poll).
//
// Not safe to share between threads. Memory: for each running job a tally of each vendor; as much
// is stored of a job with a wrong result (job_faults.h).
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

  // A root found what the worker handed in for a task with a case wrong.
  void note(const TaskId& task, const PublicKey& worker, const Hash& root, RefereePass& pass);
  // An auditor called a result wrong that is right. Its device may be the cause, as it may be of a
  // wrong result: it counts as one.
  void note_refuted(const TaskId& task, TaskCase& closed, RefereePass& pass);
  // The right result of the task is known: what is to follow from the mismatches of its case.
  // Nothing follows from that of a worker whose own root is accepted.
  void settle(const TaskCase& closed, const Accepted& accepted, RefereePass& pass);
  // A root agrees with results of these.
  void note_right(const JobId& job, std::span<const PublicKey> workers, RefereePass& pass);
  // What a worker computed of the part that a PollWanted names; failed if it did not.
  void polled(const TaskId& task, const PublicKey& suspect, const PublicKey& worker,
              AuditOutcome outcome, RefereePass& pass);
  // Whether, besides the root, a device of another vendor says so.
  [[nodiscard]] bool seen_twice(const Mismatch& mismatch, std::span<const PublicKey> right,
                                UnixMillis now) const;
  // What no worker of its vendor has confirmed costs nothing.
  void remove_job(const JobId& id);

  // What a restart is not to forget of a job, from its first wrong result to its end.
  struct Changed {
    JobId job;
    std::optional<ByteVector> state;  // Nothing: it is not kept any more.
  };
  // What changed since the last call.
  [[nodiscard]] std::vector<Changed> take_changed();
  // The job was added, and its votes restored. A poll that was under way is asked for again, of
  // those that had not answered, with the next result that a root finds right. data_loss for bytes
  // that take_changed() did not give.
  [[nodiscard]] Result<> restore(const JobId& id, ByteSpan state, RefereePass& pass);

 private:
  using Tally = VendorTally;
  using Job = JobFaults;

  [[nodiscard]] Tally& tally_of(const TaskId& task, const PublicKey& worker);
  void note_wrong(const TaskId& task, const PublicKey& worker, UnixMillis now);
  // By how much the vendor's workers that are right lead in the job, the suspect among the others.
  [[nodiscard]] std::ptrdiff_t lead_of_right(const Tally& tally, const PublicKey& suspect) const;
  using Shown = MismatchCount::Shown;
  // Adds what is shown now that a root agrees with results of these. True: the job's tallies have
  // changed.
  [[nodiscard]] bool tally_right(const JobId& id, std::span<const PublicKey> workers,
                                 std::vector<Shown>& shown, UnixMillis now);
  // Begins the next poll of a job that has none under way.
  void poll(const JobId& id, RefereePass& pass);
  void ask_poll(Job& job, const std::string& vendor, Mismatch& mismatch, RefereePass& pass);
  // No mismatch of the vendor counts in the job any more.
  void drop(Tally& tally);
  [[nodiscard]] StoredFaults stored(const JobId& id) const;
  void restore_undecided(const Mismatch& mismatch, RefereePass& pass);

  RefereeTables& tables_;
  Convictions& convictions_;
  MismatchCount count_;
  std::map<JobId, Job> jobs_;
  std::set<JobId> changed_;
  std::set<JobId> stored_;  // Something is kept of these.
};

}  // namespace weft::trust
