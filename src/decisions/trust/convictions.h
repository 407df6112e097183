// Convicts a worker whose wrong result had no other cause: the worker's standing ends, the stake
// that it may lose is slashed, and its held results are computed again. Also restores, after a
// restart, mismatches that convict no worker yet.
//
// Not safe to share between threads.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/trust/evidence.h"
#include "decisions/trust/held_results.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class Convictions {
 public:
  Convictions(RefereeTables& tables, HeldResults& held) : tables_(tables), held_(held) {}

  // Convicts the worker. The penalty for the task follows from the stake that is locked.
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits value, std::string reason,
               RefereePass& pass);
  // Convicts the worker. `penalty` is the part of its stake that it may lose.
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty,
               MicroCredits value, std::string reason, RefereePass& pass);
  // Call it when the operator pardons the worker: earlier mismatches can no longer convict it.
  // Returns false if the worker is not suspended.
  bool pardon(const PublicKey& worker, UnixMillis now);

  // Restores a mismatch after a restart. The stake that the worker may lose for it stays locked.
  void restore_mismatch(const PublicKey& worker, const Evidence::Mismatch& mismatch);
  // Forgets mismatches that are too old to convict. Frees the locked stake of a worker that has no
  // mismatch left.
  void forget_old_mismatches(UnixMillis now);

 private:
  RefereeTables& tables_;
  HeldResults& held_;
};

}  // namespace weft::trust
