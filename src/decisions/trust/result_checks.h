// Decides which results, and which parts of them, are computed again and by which level of worker:
// single results, results that two established workers agree on, and results that differ.
//
// Not safe to share between threads.
#pragma once

#include "common/base/ids.h"
#include "decisions/trust/held_results.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class ResultChecks {
 public:
  ResultChecks(RefereeTables& tables, HeldResults& held) : tables_(tables), held_(held) {}

  // Wants at least one part of the result of `suspect` checked by a root, an invited worker or
  // established workers. A newcomer's first results are checked whole; the more of its results a
  // root has confirmed, the fewer parts are checked. A task that is not cut is checked in groups of
  // steps, drawn in the same way, if the worker committed to their roots. The task has a case.
  AuditWanted& sample(const TaskId& task, const Hash& root, const PublicKey& suspect,
                      RefereePass& pass);
  // Call it when two established workers agree: a root checks a part, because both workers may be
  // accomplices.
  void check_pair(const TaskId& task, const Hash& root, const PublicKey& first, RefereePass& pass);
  // Handles results of one task that differ. If exactly one result has the word of workers that
  // decide, it is right; otherwise a root decides, and without a root trusted workers compute the
  // task again.
  void dispute(const TaskId& task, RefereePass& pass);
  // Returns the groups of results whose workers decide. With `rootless`, two established workers
  // decide even if a root is at hand.
  [[nodiscard]] std::vector<Trust::Group> believed(const TaskId& task, bool rootless,
                                                   UnixMillis now) const;

 private:
  RefereeTables& tables_;
  HeldResults& held_;
};

}  // namespace weft::trust
