// Which confirmed results count towards the standing of their workers, and how much.
//
// Not safe to share between threads.
#pragma once

#include <cstddef>
#include <span>

#include "common/base/ids.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class Confirmations {
 public:
  explicit Confirmations(RefereeTables& tables) : tables_(tables) {}

  // A root confirmed a result of this worker in the job.
  void by_root(const JobId& job, const PublicKey& worker, const RefereePass& pass);
  // These agree on an accepted result. Without standing under roots each confirms the others.
  // Counted after a root's, if one of them is a root.
  void by_agreement(const TaskId& task, std::span<const PublicKey> group, bool with_root,
                    const RefereePass& pass);
  // A check found nothing wrong in a result of this worker.
  void by_check(const PublicKey& worker, const RefereePass& pass);

 private:
  RefereeTables& tables_;
};

}  // namespace weft::trust
