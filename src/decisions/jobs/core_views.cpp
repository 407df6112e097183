// What pages and commands are shown.

#include "common/base/format.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

namespace {
namespace api = protocol::api;
}

api::Worker Core::State::view_of(const PublicKey& key, const ConnectedWorker& worker) const {
  const auto load = scheduler.load(key);
  const auto reputation = trust.votes().reputation(key);
  const auto& hello = worker.hello;
  return {.key = key.text(),
          .kind = hello.kind == protocol::WorkerKind::browser ? "browser" : "native",
          .device = hello.capabilities.device == protocol::DeviceKind::cpu ? "cpu" : "gpu",
          .description = hello.capabilities.description,
          .connected = true,
          .slots = hello.slots,
          .held = load ? load->held : 0,
          .accepted = reputation.accepted,
          .refused = reputation.refused,
          .balance = spendable(key) + held_pay(key),
          .held_pay = held_pay(key),
          .f32_gflop_per_s = hello.capabilities.f32_gflop_per_s,
          .copy_gb_per_s = hello.capabilities.copy_gb_per_s,
          .since = worker.since,
          .price_min = load ? load->price_min : 0};
}

void Core::State::fill(api::Job& view) const {
  const auto id = JobId::parse(view.id);
  const auto job = id ? jobs.find(*id) : jobs.end();
  if (job == jobs.end()) return;
  const auto progress = scheduler.progress(*id);
  view.accepted = job->second.accepted_count;
  view.price = job->second.row.price;
  view.leased = progress ? progress->leased : 0;
}

void Core::live(std::vector<api::Job> jobs, Answer<std::vector<api::Job>> answer) {
  for (auto& view : jobs) state_->fill(view);
  state_->effect([answer = std::move(answer), jobs = std::move(jobs)] { answer(jobs); });
}

void Core::show_job(api::Job job, Moment now, Answer<api::Job> answer) {
  State& state = *state_;
  state.fill(job);
  const auto id = JobId::parse(job.id);
  if (const auto waiting = id ? state.scheduler.waiting(*id, now.at) : std::nullopt) {
    job.waiting = {.reason = std::string(scheduler::to_string(waiting->reason)),
                   .detail = scheduler::sentence(*waiting),
                   .task = waiting->index,
                   .able = waiting->able,
                   .position = waiting->position,
                   .seconds = waiting->seconds.value_or(0),
                   .lacks = {}};
    for (const auto& lack : waiting->lacks)
      job.waiting.lacks.push_back({.what = lack.what, .workers = lack.workers});
  }
  if (const auto late = id ? state.why_late(*id, now.at) : State::LateView{};
      !late.sentence.empty()) {
    job.waiting.reason = std::string(scheduler::to_string(scheduler::WaitReason::checks));
    job.waiting.detail = late.sentence;
    job.waiting.task = late.task;
  }
  state.effect([answer = std::move(answer), job = std::move(job)] { answer(job); });
}

void Core::live_tasks(const JobId& id, std::vector<api::Task> tasks,
                      Answer<std::vector<api::Task>> answer) {
  State& state = *state_;
  if (const auto job = state.jobs.find(id); job != state.jobs.end()) {
    for (auto& view : tasks) {
      if (view.state == "accepted") continue;
      const auto delivered = job->second.delivered.find(view.index);
      const auto leased = job->second.leased.find(view.index);
      if (delivered != job->second.delivered.end() && !delivered->second.empty()) {
        view.state = "checking";
      } else if (leased != job->second.leased.end() && !leased->second.empty()) {
        view.state = "leased";
      }
    }
  }
  state.effect([answer = std::move(answer), tasks = std::move(tasks)] { answer(tasks); });
}

void Core::workers(Answer<api::Workers> answer) {
  State& state = *state_;
  api::Workers view;
  for (const auto& [key, worker] : state.workers)
    view.workers.push_back(state.view_of(key, worker));
  for (auto departed : state.departed) {
    if (const auto key = PublicKey::parse(departed.key)) {
      const auto reputation = state.trust.votes().reputation(*key);
      departed.accepted = reputation.accepted;
      departed.refused = reputation.refused;
      departed.held_pay = state.held_pay(*key);
      departed.balance = state.spendable(*key) + departed.held_pay;
    }
    view.workers.push_back(std::move(departed));
  }
  state.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void Core::ledger(Answer<api::Ledger> answer) {
  State& state = *state_;
  api::Ledger view{.sum = state.ledger.sum(), .balances = {}};
  for (const auto& [account, amount] : state.ledger.balances())
    view.balances.push_back({.account = account.text(), .amount = amount});
  state.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void Core::balance(std::span<const ledger::Account> accounts, Answer<MicroCredits> answer) {
  MicroCredits amount = 0;
  for (const ledger::Account& account : accounts) amount += state_->ledger.balance(account);
  state_->effect([answer = std::move(answer), amount] { answer(amount); });
}

void Core::settlement(Answer<api::Settlement> answer) {
  State& state = *state_;
  api::Settlement view;
  for (const auto& [account, amount] : state.ledger.balances()) {
    if (account.kind == ledger::Account::Kind::settled)
      view.owners.push_back({.owner = OwnerId{{account.id}}.text(), .settled = amount});
  }
  state.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void Core::metrics(Answer<std::string> answer) {
  State& state = *state_;
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       std::uint64_t value) {
    text += weft::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  const auto& counters = state.counters;
  add("weft_jobs_running", "gauge", "Jobs that have not ended.", state.jobs.size());
  add("weft_tasks_open", "gauge", "Tasks of running jobs that are not accepted.", state.tasks_open);
  add("weft_workers_connected", "gauge", "Workers connected now.", state.workers.size());
  std::uint64_t held = 0;
  for (const auto& [key, worker] : state.workers) {
    if (const auto load = state.scheduler.load(key)) held += load->held;
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
      "Tasks that made way for more urgent ones since the start.", state.scheduler.preemptions());
  add("weft_copies_total", "counter", "Copies of late tasks since the start.",
      state.scheduler.copies_made());
  add("weft_workers_arrived_total", "counter", "Connections of workers since the start.",
      counters.workers_arrived);
  add("weft_commits_total", "counter", "Batches handed to the store since the start.",
      counters.commits);
  add("weft_audits_total", "counter", "Audits begun since the start.", counters.audits);
  add("weft_audits_differ_total", "counter", "Audits that found a difference since the start.",
      counters.audits_differ);
  add("weft_audits_unanswered_total", "counter",
      "Audits that a worker was asked for and did not answer in time, since the start.",
      counters.audits_unanswered);
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
      state.rechecks.size());
  const auto samples = state.samples();
  add("weft_samples_waiting", "gauge", "Results that wait to be checked by a trusted worker.",
      samples.waiting);
  add("weft_samples_oldest_seconds", "gauge", "How long the oldest of them has waited.",
      static_cast<std::uint64_t>(seconds(samples.oldest)));
  add("weft_samples_expected_seconds", "gauge",
      "How long one more new worker's result would wait to be checked.",
      static_cast<std::uint64_t>(state.scheduler.sample_wait(state.at_now)));
  add("weft_samples_lag_total", "counter",
      "Times that the operator was told to add a verifier since the start.", counters.lags);
  const billing::AnswerCounters& answers = state.answers.counters;
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
      state.ledger.sum());
  state.effect([answer = std::move(answer), text = std::move(text)] { answer(text); });
}

MicroCredits Core::ledger_sum() const { return state_->ledger.sum(); }
MicroCredits Core::balance_now(const ledger::Account& account) const {
  return state_->ledger.balance(account);
}

}  // namespace weft::jobs
