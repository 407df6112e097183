// Views of the running state for pages and commands. An answer goes out after everything that it
// may show is durable.
//
// Threading: one thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "decisions/jobs/canary_measures.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/paid_tables.h"
#include "decisions/jobs/sample_watch.h"
#include "decisions/jobs/verifier_audits.h"

namespace weft::jobs {

class CoreViews {
 public:
  CoreViews(CoreTables& tables, const PaidTables& paid, const SampleWatch& samples,
            const VerifierAudits& verifier, const CanaryMeasures& canaries,
            const Completions& completions)
      : tables_(tables),
        paid_(paid),
        samples_(samples),
        verifier_(verifier),
        canaries_(canaries),
        completions_(completions) {}
  CoreViews(const CoreViews&) = delete;

  // Completes jobs that were read from the store with data that only the running state has (leases,
  // progress).
  void live(std::vector<protocol::api::Job> jobs, Answer<std::vector<protocol::api::Job>> answer);
  // Completes one job that was read from the store, and adds why its next task waits.
  void show_job(protocol::api::Job job, Moment now, Answer<protocol::api::Job> answer);
  void live_tasks(const JobId& job, std::vector<protocol::api::Task> tasks,
                  Answer<std::vector<protocol::api::Task>> answer);
  void workers(Answer<protocol::api::Workers> answer);
  void ledger(Answer<protocol::api::Ledger> answer);
  // The sum of the balances of all these accounts.
  void balance(std::span<const ledger::Account> accounts, Answer<MicroCredits> answer);
  void settlement(Answer<protocol::api::Settlement> answer);
  void metrics(Answer<std::string> answer);  // The metrics as Prometheus text.

 private:
  void fill(protocol::api::Job& view) const;

  CoreTables& tables_;
  const PaidTables& paid_;
  const SampleWatch& samples_;
  const VerifierAudits& verifier_;
  const CanaryMeasures& canaries_;
  const Completions& completions_;
};

}  // namespace weft::jobs
