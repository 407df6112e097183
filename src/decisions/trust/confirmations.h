// Counts confirmed results towards the standing of their workers, each with its weight.
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

  // Call it when a root confirmed a result of this worker in the job.
  void by_root(const JobId& job, const PublicKey& worker, const RefereePass& pass);
  // Call it when the workers of `group` agree on an accepted result. If a root is among them
  // (`with_root`), each of the other workers is confirmed as by by_root(). With
  // Defences::standing_under_roots off, the workers confirm each other instead.
  void by_agreement(const TaskId& task, std::span<const PublicKey> group, bool with_root,
                    const RefereePass& pass);
  // Call it when a check found nothing wrong in a result of this worker.
  void by_check(const PublicKey& worker, const RefereePass& pass);

 private:
  RefereeTables& tables_;
};

}  // namespace weft::trust
