// What of a result is computed again, and by whom: parts of what a worker handed in, a part of what
// two established workers agree on, and what decides between results that differ.
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

  // At least one part of what `suspect` handed in, by a root or by workers that free wallets cannot
  // be. A newcomer's first results are checked whole, and later ones less, the more of them a root
  // has confirmed. The task has a case.
  AuditWanted& sample(const TaskId& task, const Hash& root, const PublicKey& suspect,
                      RefereePass& pass);
  // Two established workers agree: a root looks at a part, since both may be accomplices.
  void check_pair(const TaskId& task, const Hash& root, const PublicKey& first, RefereePass& pass);
  // Results of one task differ. If one of them has the word of workers that decide, it is right;
  // otherwise a root says which is, and without a root trusted workers compute the task again.
  void dispute(const TaskId& task, RefereePass& pass);
  // The results that have the word of workers that decide, without a root too if there is none.
  [[nodiscard]] std::vector<Trust::Group> believed(const TaskId& task, bool rootless,
                                                   UnixMillis now) const;

 private:
  RefereeTables& tables_;
  HeldResults& held_;
};

}  // namespace weft::trust
