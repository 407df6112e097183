#include "decisions/jobs/core_metrics.h"

#include "common/base/format.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

std::string metrics_text(const CoreTables& tables, const MetricsOfParts& of) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       std::uint64_t value) {
    text += weft::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  const Counters& counters = tables.counters;
  add("weft_jobs_running", "gauge", "Jobs that have not ended.", tables.jobs.size());
  add("weft_tasks_open", "gauge", "Tasks of running jobs that are not accepted.",
      tables.jobs.tasks_open());
  add("weft_workers_connected", "gauge", "Workers connected now.", tables.workers.size());
  std::uint64_t held = 0;
  for (const auto& [key, worker] : tables.workers.all()) {
    if (const auto load = tables.scheduler.views().load(key)) held += load->held;
  }
  add("weft_leases_held", "gauge", "Leases held now.", held);
  add("weft_jobs_submitted_total", "counter", "Jobs taken since the start.",
      counters.jobs_submitted);
  add("weft_jobs_done_total", "counter", "Jobs that were done since the start.",
      counters.jobs_done);
  add("weft_jobs_failed_total", "counter", "Jobs that failed since the start.",
      counters.jobs_failed);
  add("weft_jobs_cancelled_total", "counter", "Jobs that were cancelled since the start.",
      counters.jobs_cancelled);
  add("weft_tasks_accepted_total", "counter", "Tasks accepted and paid since the start.",
      counters.tasks_accepted);
  add("weft_replicas_counted_total", "counter", "Results covered by a receipt since the start.",
      counters.replicas_counted);
  add("weft_results_refused_total", "counter", "Results refused since the start.",
      counters.results_refused);
  add("weft_leases_granted_total", "counter", "Leases granted since the start.",
      counters.leases_granted);
  add("weft_leases_lost_total", "counter", "Leases that ended without a result since the start.",
      counters.leases_lost);
  add("weft_checkpoints_total", "counter", "States of long tasks stored since the start.",
      counters.checkpoints);
  add("weft_resumed_total", "counter", "Leases that continued from a stored state since the start.",
      counters.resumed);
  add("weft_preemptions_total", "counter",
      "Tasks that made way for more urgent ones since the start.",
      tables.scheduler.views().preemptions());
  add("weft_copies_total", "counter", "Copies of late tasks since the start.",
      tables.scheduler.views().copies_made());
  add("weft_workers_arrived_total", "counter", "Connections of workers since the start.",
      counters.workers_arrived);
  add("weft_commits_total", "counter", "Batches handed to the store since the start.",
      tables.outbox.commits());
  add("weft_audits_total", "counter", "Audits begun since the start.", counters.audits);
  add("weft_audits_differ_total", "counter", "Audits that found a difference since the start.",
      counters.audits_differ);
  add("weft_audits_unanswered_total", "counter",
      "Audits that a worker was asked for and did not answer in time, since the start.",
      counters.audits_unanswered);
  add("weft_states_unanswered_total", "counter",
      "Results that count as lost because their workers did not send the states of drawn steps.",
      counters.states_unanswered);
  add("weft_traps_total", "counter", "Tasks with known answers handed out since the start.",
      counters.traps);
  add("weft_convictions_total", "counter", "Workers convicted of a wrong result since the start.",
      counters.convictions);
  add("weft_tasks_corrected_total", "counter",
      "Accepted tasks of convicted or suspected workers that were wrong and were replaced since "
      "the start.",
      counters.tasks_corrected);
  add("weft_tasks_unchecked_total", "counter",
      "Accepted tasks of convicted or suspected workers that could not be computed again since the "
      "start.",
      counters.tasks_unchecked);
  add("weft_jobs_corrected_total", "counter",
      "Ended jobs whose results were corrected since the start.", counters.jobs_corrected);
  add("weft_rechecks_running", "gauge",
      "Convicted or suspected workers whose paid tasks are being computed again.",
      of.rechecks_running);
  const WaitingSamples& samples = of.samples;
  add("weft_samples_waiting", "gauge", "Results that wait to be checked by a trusted worker.",
      samples.waiting);
  add("weft_samples_oldest_seconds", "gauge", "How long the oldest of them has waited.",
      static_cast<std::uint64_t>(seconds(samples.oldest)));
  add("weft_samples_expected_seconds", "gauge",
      "How long one more new worker's result would wait to be checked.",
      static_cast<std::uint64_t>(tables.scheduler.views().sample_wait(tables.latest.at)));
  add("weft_samples_lag_total", "counter",
      "Times that the operator was told to add a verifier since the start.", counters.lags);
  const billing::AnswerCounters& answers = of.answers;
  add("weft_answers_paid_total", "counter",
      "Answers with an API key that were paid since the start.", answers.paid);
  add("weft_answers_refunded_total", "counter",
      "Answers with an API key that no worker was paid for.", answers.refunded);
  add("weft_answer_audits_total", "counter", "Audits of answers begun since the start.",
      answers.audits);
  add("weft_answer_mismatches_total", "counter",
      "Audits of answers that found another model's numbers.", answers.mismatches);
  add("weft_answers_unaudited_total", "counter",
      "Answers that were drawn for an audit that no worker could do.", answers.unaudited);
  text += weft::format(
      "# HELP weft_ledger_sum Sum of all balances in micro-credits: zero.\n# TYPE weft_ledger_sum "
      "gauge\nweft_ledger_sum {}\n",
      tables.accounts.ledger().sum());
  return text;
}

}  // namespace weft::jobs
