// The parts that check results, over test tables and without a core, for tests of leases and of
// results. The decisions of trust are recorded and not carried out.
#pragma once

#include "decisions/jobs/sample_watch.h"
#include "decisions/jobs/test_tables.h"
#include "decisions/jobs/verification_leases.h"

namespace weft::jobs {

struct TestCheckParts {
  TestTables test;
  RecordingRulings rulings;
  ClaimsAsSaid claims;
  Stakes stakes{test.tables, claims};
  CheckerPay pay{test.tables};
  Checkpoints checkpoints{test.tables};
  StateRequests states{test.tables, checkpoints};
  AuditLeases audits{test.tables, states, rulings};
  StateAudits state_audits{test.tables, audits, states, rulings};
  SampleWatch samples{test.tables, audits};
  PollLeases polls{test.tables, pay, rulings};
  TrapLeases traps{test.tables, pay, rulings};
  VerifierAudits verifier{test.tables, audits, state_audits, states, rulings};
  CanaryMeasures canaries{test.tables};
  PaidTables paid{test.tables.accounts};
  HeldPayments held{test.tables, paid};
  Forfeits forfeits{test.tables, paid, held};
  Refunds refunds{test.tables, paid};
  JobPrices prices{test.tables};
  JobWatch watch{test.tables, prices};
  Corrections corrections{test.tables, paid, held, forfeits, refunds, watch};
  VerificationLeases checks{test.tables,
                            {.audits = audits,
                             .polls = polls,
                             .traps = traps,
                             .verifier = verifier,
                             .states = state_audits,
                             .canaries = canaries,
                             .corrections = corrections,
                             .stakes = stakes,
                             .rulings = rulings}};
};

}  // namespace weft::jobs
