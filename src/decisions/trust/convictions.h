// A worker was wrong, and nothing else was the cause: its standing ends, what it may lose of its
// stake is slashed, and what is held of it is computed again. Mismatches that convict no worker yet
// are kept here over a restart.
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

  // What it loses for the task follows from what is locked.
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits value, std::string reason,
               RefereePass& pass);
  // `penalty` is what of its stake it may lose.
  void convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty,
               MicroCredits value, std::string reason, RefereePass& pass);
  // By the operator: what it was convicted for convicts it no more. False where it is not
  // suspended.
  bool pardon(const PublicKey& worker, UnixMillis now);

  // What it may lose stays locked.
  void restore_mismatch(const PublicKey& worker, const Evidence::Mismatch& mismatch);
  // What was found too long ago convicts no more, and its stake is free again.
  void forget_old_mismatches(UnixMillis now);

 private:
  RefereeTables& tables_;
  HeldResults& held_;
};

}  // namespace weft::trust
