// Corrections: the tasks that a convicted worker, or a suspect, was paid for in the last day are
// computed again by the coordinator's verifier. Wrong results are replaced, their jobs are joined
// again, and their clients get back the credits that the conviction took, as far as these reach.
//
// Threading: one thread. Bounds: as Rechecks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/forfeits.h"
#include "decisions/jobs/held_payments.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/paid_tables.h"
#include "decisions/jobs/refunds.h"
#include "decisions/jobs/rulings.h"
#include "decisions/trust/late_check.h"
#include "decisions/trust/suspects.h"

namespace weft::jobs {

class Corrections final : public OpenClaims {
 public:
  Corrections(CoreTables& tables, PaidTables& paid, const HeldPayments& held, Forfeits& forfeits,
              Refunds& refunds, JobWatch& watch)
      : tables_(tables),
        paid_(paid),
        held_(held),
        forfeits_(forfeits),
        refunds_(refunds),
        watch_(watch) {}
  Corrections(const Corrections&) = delete;

  void restore(const store::Loaded& loaded);

  // The worker is convicted. The conviction took `taken` credits of it that no client has been
  // given.
  void convicted(const PublicKey& worker, MicroCredits taken, Moment now);
  void suspect(const trust::Suspected& suspected, Moment now);

  void paid_found(const PaidFound& found, Moment now);
  // Takes the verifier's answer to an order for a paid task (VerifyOrder::paid). `failed` means
  // that this verifier cannot check the task; if the answer is also late, the verifier may do so
  // later.
  void rechecked(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  void joined_again(const JobId& job, const Result<JoinedAgain>& joined);

  // Orders again, from the verifier, the checks that it did not finish and that are due.
  void ask_again(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;
  // Starts the lookups that are due, and ends the rechecks that are complete.
  void go_on(Moment now);
  // Joins jobs that ended with wrong results again, once all wrong results of a worker are known,
  // and forgets corrections that are settled.
  void settle() override;
  [[nodiscard]] bool may_take_all(const PublicKey& worker) const override;
  [[nodiscard]] MicroCredits owed_by(const OwnerId& owner) const override {
    return paid_.corrections.owed_by(owner);
  }
  [[nodiscard]] bool may_correct_for(const PublicKey& client) const override;

 private:
  void go_on_suspecting(Moment now);
  // True if a paid task is computed again later, because the verifier was late.
  bool is_late(const TaskId& task, const Checked& checked, Moment now);
  void name_unchecked(const PaidTask& paid, const PublicKey& worker, std::string_view reason,
                      Moment now);
  void correct(const PaidTask& paid, const PublicKey& worker, const Recomputed& right,
               MicroCredits refunded, Moment now);
  // Ends the debts to clients of workers that were not convicted in time.
  void end_owed(Moment now);

  CoreTables& tables_;
  PaidTables& paid_;
  const HeldPayments& held_;
  Forfeits& forfeits_;
  Refunds& refunds_;
  JobWatch& watch_;
  trust::Suspects suspects_;
  std::set<PublicKey> found_wrong_;  // Workers whose recheck has found a wrong task.
  std::set<JobId> joining_again_;
  std::map<TaskId, trust::LateCheck> late_;  // Paid tasks that the verifier did not finish.
  std::optional<Instant> owed_looked_;       // When debts that have expired were last looked for.
};

}  // namespace weft::jobs
