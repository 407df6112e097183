// The held pay that a conviction takes. Pay for known tasks stays held until the verifier has
// computed the tasks again; it then goes to the clients of wrong results. All other pay goes to the
// verification account, so that no party gains from a conviction.
//
// Threading: one thread.
#pragma once

#include <map>
#include <memory>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/held_payments.h"
#include "decisions/jobs/paid_tables.h"

namespace weft::jobs {

class Forfeits {
 public:
  Forfeits(CoreTables& tables, PaidTables& paid, HeldPayments& held)
      : tables_(tables), paid_(paid), held_(held) {}
  Forfeits(const Forfeits&) = delete;

  // Takes up the stored rows of held pay and of lost pay. The time for which pay was held before
  // the restart is not stored: it starts again. Fails with data_loss if the rows contradict
  // themselves.
  [[nodiscard]] Result<> restore(const store::Loaded& loaded, Moment now);

  // Takes the held pay of a convicted worker.
  void forfeit(const PublicKey& worker, Moment now);
  // Settles the lost pay of a task that was computed again. If its result is wrong, the client gets
  // that pay, up to the amount that it is owed. Returns the amount that the client got.
  MicroCredits computed(const PaidTask& paid, bool is_wrong, Moment now);

 private:
  // True if the lost pay went to the client of its task, because that task is corrected already.
  bool is_lost_to_client(const LostPay& lost, Moment now);
  void compute_again(const LostPay& lost);
  // Gives at most `owed` of the lost pay to the client, and the rest to the verification account.
  MicroCredits settle(const LostPay& lost, MicroCredits owed, Moment now);
  using PaidTasks = std::map<TaskId, std::shared_ptr<const PaidTask>>;
  // Fails with data_loss for a text that is not a manifest.
  [[nodiscard]] Result<PaidTasks> paid_tasks(const store::Loaded& loaded) const;

  CoreTables& tables_;
  PaidTables& paid_;
  HeldPayments& held_;
};

}  // namespace weft::jobs
