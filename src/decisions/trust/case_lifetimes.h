// Begins and ends the cases of tasks: at the first lease, after a restart, when a lease is lost,
// and when the job ends.
//
// Not safe to share between threads.
#pragma once

#include <functional>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/trust/device_fault.h"
#include "decisions/trust/held_results.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class CaseLifetimes {
 public:
  CaseLifetimes(RefereeTables& tables, HeldResults& held, DeviceFault& fault)
      : tables_(tables), held_(held), fault_(fault) {}

  // The first lease on a task goes to `worker`. `value` is the pay for one replica, 0 if it is not
  // known yet. The stake that is locked follows from what the lease asks for.
  void begin(const TaskId& task, const PublicKey& worker, MicroCredits value, MicroCredits stake,
             StepRoots roots, RefereePass& pass);
  // Restores the job's counted results after a restart. `stake` returns the stake of a wallet.
  void restore(const JobId& id, MicroCredits value,
               const std::function<MicroCredits(const PublicKey&)>& stake, RefereePass& pass);
  // Call it if the lease of `worker` on the task ended without a result.
  void lose(const TaskId& task, const PublicKey& worker);
  void remove_job(const JobId& id);

 private:
  void restore_task(const TaskId& task, MicroCredits value,
                    const std::function<MicroCredits(const PublicKey&)>& stake, RefereePass& pass);

  RefereeTables& tables_;
  HeldResults& held_;
  DeviceFault& fault_;
};

}  // namespace weft::trust
