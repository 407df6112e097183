// The parts of the core, wired together: an event goes to one part, which decides and tells the
// other parts that it names. All parts share the tables of core_tables.h.
#pragma once

#include <utility>

#include "decisions/jobs/answer_weighing.h"
#include "decisions/jobs/audit_leases.h"
#include "decisions/jobs/canary_measures.h"
#include "decisions/jobs/check_rows.h"
#include "decisions/jobs/checker_pay.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/client_weights.h"
#include "decisions/jobs/completion_pay.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/convictions.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/double_signing.h"
#include "decisions/jobs/forfeits.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/held_payments.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/owner_records.h"
#include "decisions/jobs/owner_requests.h"
#include "decisions/jobs/paid_tables.h"
#include "decisions/jobs/poll_leases.h"
#include "decisions/jobs/refunds.h"
#include "decisions/jobs/result_comparisons.h"
#include "decisions/jobs/result_intake.h"
#include "decisions/jobs/ruling_executor.h"
#include "decisions/jobs/sample_watch.h"
#include "decisions/jobs/scheduling.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/standings.h"
#include "decisions/jobs/state_audits.h"
#include "decisions/jobs/state_requests.h"
#include "decisions/jobs/step_root_choice.h"
#include "decisions/jobs/task_payments.h"
#include "decisions/jobs/trap_leases.h"
#include "decisions/jobs/verification_leases.h"
#include "decisions/jobs/verifier_audits.h"
#include "decisions/jobs/worker_presence.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

struct CoreParts {
  CoreParts(World& world, Book& book, CoreSettings settings)
      : tables(world, book, std::move(settings)) {}
  CoreParts(const CoreParts&) = delete;

  // Takes up the stored rows (core_restore.cpp). Fails with data_loss if the rows contradict
  // themselves.
  [[nodiscard]] Result<> restore(Restored restored, Moment now);
  // Does the work that is due, and carries out the scheduler's decisions.
  void decide(Moment now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  CoreTables tables;
  PaidTables paid{tables.accounts};

  // Money and owners.
  Grants grants{tables};
  ClientKeys keys{tables, grants};
  ClientWeights weights{tables};
  JobPrices prices{tables};
  CheckerPay checker_pay{tables};
  HeldPayments held{tables, paid};
  Forfeits forfeits{tables, paid, held};
  Refunds refunds{tables, paid};
  TaskPayments payments{tables, grants, checker_pay, held};

  // Watchers, and results that were found wrong.
  JobWatch watch{tables, prices};
  Corrections corrections{tables, paid, held, forfeits, refunds, watch};
  Stakes stakes{tables, corrections};

  // Checks.
  StateRequests states{tables, checkpoints};
  AuditLeases audits{tables, states, rulings};
  StateAudits state_audits{tables, audits, states, rulings};
  PollLeases polls{tables, checker_pay, rulings};
  TrapLeases traps{tables, checker_pay, rulings};
  VerifierAudits verifier{tables, audits, state_audits, states, rulings};
  CanaryMeasures canaries{tables};
  StepRootChoice roots{tables, canaries};
  VerificationLeases checks{tables,
                            {.audits = audits,
                             .polls = polls,
                             .traps = traps,
                             .verifier = verifier,
                             .states = state_audits,
                             .canaries = canaries,
                             .corrections = corrections,
                             .stakes = stakes,
                             .rulings = rulings}};
  SampleWatch samples{tables, audits};
  CheckSweep check_sweep;

  // Workers.
  WorkerSessions sessions{tables, watch, checks};
  WorkerPresence presence{tables};
  Standings standings{tables, stakes, sessions};
  Convictions convictions{tables, checker_pay, corrections, forfeits, sessions};
  OwnerRequests owners{tables, keys, sessions};
  OwnerRecords owner_records{tables, keys, weights, stakes, presence, corrections};

  // Jobs and results.
  Checkpoints checkpoints{tables};
  ResultComparisons comparisons{tables, rulings};
  JobLife life{tables,
               {.prices = prices,
                .weights = weights,
                .stakes = stakes,
                .comparisons = comparisons,
                .watch = watch,
                .payments = payments,
                .checkpoints = checkpoints,
                .sessions = sessions,
                .checks = checks,
                .claims = corrections}};
  JobSubmissions submissions{tables, grants, prices, payments, life};
  DoubleSigning signing{tables, stakes};
  ResultIntake results{tables,
                       {.checkpoints = checkpoints,
                        .checks = checks,
                        .comparisons = comparisons,
                        .signing = signing,
                        .watch = watch,
                        .sessions = sessions,
                        .rulings = rulings}};
  RulingExecutor rulings{tables,
                         {.life = life,
                          .payments = payments,
                          .held = held,
                          .checkpoints = checkpoints,
                          .watch = watch,
                          .sessions = sessions,
                          .audits = audits,
                          .polls = polls,
                          .convictions = convictions,
                          .corrections = corrections}};
  Scheduling scheduling{tables,
                        {.life = life,
                         .prices = prices,
                         .payments = payments,
                         .checkpoints = checkpoints,
                         .weights = weights,
                         .watch = watch,
                         .sessions = sessions,
                         .checks = checks,
                         .canaries = canaries,
                         .roots = roots,
                         .rulings = rulings}};

  // Answers of language models.
  CompletionPay completion_pay{tables};
  AnswerWeighing weighing{tables};
  Completions completions{tables, weighing, completion_pay, keys, grants, stakes, rulings};

  CoreViews views{tables, paid, samples, verifier, canaries, completions};
};

}  // namespace weft::jobs
