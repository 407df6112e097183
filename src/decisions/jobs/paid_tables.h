// Records of accepted and paid tasks, kept until nothing about them can change any more: pay that
// is held, pay that a conviction took, tasks that are computed again, and results that were wrong.
// The parts that decide about them share these tables (held_payments.h, forfeits.h, refunds.h,
// corrections.h).
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

  // True if something may still be refunded for the task. While that is so, the sum refunded so far
  // is kept: a client gets no more than it paid, over all convictions of workers that agreed on the
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
