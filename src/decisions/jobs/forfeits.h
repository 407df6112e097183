// What a conviction takes of held pay. What was paid for known tasks stays held until the verifier
// has computed them again, and goes to the clients of wrong ones; the rest goes to the verification
// account: a conviction enriches no party.
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

  // Held pay, and pay that was lost, as they were stored. How long pay was held before the restart
  // is not: it starts again. data_loss if the rows contradict themselves.
  [[nodiscard]] Result<> restore(const store::Loaded& loaded, Moment now);

  // The worker is convicted.
  void forfeit(const PublicKey& worker, Moment now);
  // The task is computed again: what was lost of it is its client's, if it is wrong, as far as that
  // is owed something. What the client got.
  MicroCredits computed(const PaidTask& paid, bool is_wrong, Moment now);

 private:
  // Whether the client of its task, which is corrected already, was given it.
  bool is_lost_to_client(const LostPay& lost, Moment now);
  void compute_again(const LostPay& lost);
  // At most `owed` of it is the client's: the rest goes to the verification account.
  MicroCredits settle(const LostPay& lost, MicroCredits owed, Moment now);
  using PaidTasks = std::map<TaskId, std::shared_ptr<const PaidTask>>;
  // data_loss for a text that is not a manifest.
  [[nodiscard]] Result<PaidTasks> paid_tasks(const store::Loaded& loaded) const;

  CoreTables& tables_;
  PaidTables& paid_;
  HeldPayments& held_;
};

}  // namespace weft::jobs
