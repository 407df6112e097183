// What is kept of tasks that were accepted and paid, until nothing can change about them any more:
// pay that is held, pay that a conviction took, tasks that are computed again, and results that
// were wrong. The parts that decide about them share these tables (held_payments.h, forfeits.h,
// refunds.h, corrections.h).
#pragma once

#include "decisions/jobs/accounts.h"
#include "decisions/jobs/held_pay.h"
#include "decisions/jobs/lost_pays.h"
#include "decisions/jobs/open_corrections.h"
#include "decisions/jobs/rechecks.h"

namespace weft::jobs {

struct PaidTables {
  explicit PaidTables(const Accounts& accounts) : corrections(accounts) {}
  PaidTables(const PaidTables&) = delete;

  // What was refunded of a correction is kept as long as anything can be refunded once more: a
  // client gets no more than what it paid, over all convictions of workers that agreed on the
  // result.
  [[nodiscard]] bool may_be_refunded(const TaskId& task, const OpenCorrection& open) const {
    const bool is_owed = !open.over && open.row.refunded < open.row.due;
    return is_owed || held.holds_for(task) || lost.contains(task) || rechecks.waiting(task) ||
           rechecks.looks_up();
  }

  HeldPays held;
  LostPays lost;
  Rechecks rechecks;
  OpenCorrections corrections;
};

}  // namespace weft::jobs
