// The paid tasks of a convicted worker, or of a suspect, of the day before are computed again by
// the coordinator's verifier: wrong ones are replaced, their jobs joined again, and their clients
// get back what the conviction took, as far as that reaches.
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

  // The worker is convicted, which took `taken` of it that no client has.
  void convicted(const PublicKey& worker, MicroCredits taken, Moment now);
  void suspect(const trust::Suspected& suspected, Moment now);

  void paid_found(const PaidFound& found, Moment now);
  // What the verifier found of an order for a task that is paid (VerifyOrder::paid). `failed`: not
  // this verifier; where it is late, not now.
  void rechecked(const TaskId& task, const Hash& root, const Checked& checked, Moment now);
  void joined_again(const JobId& job, const Result<JoinedAgain>& joined);

  // The verifier is asked again for what it did not finish.
  void ask_again(Moment now);
  [[nodiscard]] std::optional<Instant> deadline() const;
  // What is to be looked up; what is over.
  void go_on(Moment now);
  // Jobs that ended with wrong results are joined again, once all of a worker's are known; what is
  // settled is no longer kept.
  void settle() override;
  [[nodiscard]] bool may_take_all(const PublicKey& worker) const override;
  [[nodiscard]] MicroCredits owed_by(const OwnerId& owner) const override {
    return paid_.corrections.owed_by(owner);
  }
  [[nodiscard]] bool may_correct_for(const PublicKey& client) const override;

 private:
  void go_on_suspecting(Moment now);
  // Whether a paid task is computed again later.
  bool is_late(const TaskId& task, const Checked& checked, Moment now);
  void name_unchecked(const PaidTask& paid, const PublicKey& worker, std::string_view reason,
                      Moment now);
  void correct(const PaidTask& paid, const PublicKey& worker, const Recomputed& right,
               MicroCredits refunded, Moment now);
  // The clients of a worker that was not convicted in time are owed nothing more.
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
  std::optional<Instant> owed_looked_;       // For what is owed no more.
};

}  // namespace weft::jobs
