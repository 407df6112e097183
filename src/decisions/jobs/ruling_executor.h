// Carries out the decisions of trust: results are counted, accepted and paid, or refused; workers
// are convicted; checks are begun.
//
// Threading: one thread. A ruling may cause further rulings while it is carried out. Invariant: the
// stakes that a dispute took from its losers have arrived before its jury is paid, and before a job
// that it completes is joined.
#pragma once

#include <string_view>
#include <vector>

#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/convictions.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/coverings.h"
#include "decisions/jobs/held_payments.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/poll_leases.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/task_payments.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

class RulingExecutor final : public Rulings {
 public:
  // The parts that carry out rulings.
  struct Parts {
    JobLife& life;
    TaskPayments& payments;
    const HeldPayments& held;
    Checkpoints& checkpoints;
    JobWatch& watch;
    WorkerSessions& sessions;
    AuditLeases& audits;
    PollLeases& polls;
    Convictions& convictions;
    Corrections& corrections;
  };
  RulingExecutor(CoreTables& tables, Parts parts) : tables_(tables), parts_(parts) {}
  RulingExecutor(const RulingExecutor&) = delete;

  void carry_out(const std::vector<trust::Ruling>& rulings, Moment now) override;
  void end_irreproducible(const JobId& job, std::string_view why, Moment now) override {
    parts_.life.end_irreproducible(job, why, now);
  }

 private:
  void carry_out_one(const trust::Ruling& ruling, Moment now);
  void count(const trust::Counted& counted, Moment now);
  void accept(const trust::Accepted& accepted, Moment now);
  // Sends verdicts to the workers that did not agree on the result but decided about it: jurors,
  // and auditors that accused. Tells other auditors their pay.
  void answer_checkers(RunningJob& job, const trust::Accepted& accepted,
                       const std::map<PublicKey, Delivered>& delivered,
                       const TaskPayments::Paid& paid);
  void turn_down(const trust::Refused& refused, Moment now);
  void store_reputation(const PublicKey& worker);
  void store_receipt(Covering& covering);

  CoreTables& tables_;
  const Parts parts_;
  std::vector<JobId> complete_;  // Jobs whose tasks were all accepted by the rulings under way.
};

}  // namespace weft::jobs
