#include "decisions/jobs/core_views.h"

#include <utility>

#include "decisions/jobs/core_metrics.h"
#include "decisions/jobs/worker_view.h"

namespace weft::jobs {

namespace {
namespace api = protocol::api;
}

void CoreViews::fill(api::Job& view) const {
  const auto id = JobId::parse(view.id);
  const RunningJob* const job = id ? tables_.jobs.find(*id) : nullptr;
  if (job == nullptr) return;
  const auto progress = tables_.scheduler.views().progress(*id);
  view.accepted = job->accepted_count;
  view.price = job->row.price;
  view.leased = progress ? progress->leased : 0;
}

void CoreViews::live(std::vector<api::Job> jobs, Answer<std::vector<api::Job>> answer) {
  for (auto& view : jobs) fill(view);
  tables_.outbox.effect([answer = std::move(answer), jobs = std::move(jobs)] { answer(jobs); });
}

void CoreViews::show_job(api::Job job, Moment now, Answer<api::Job> answer) {
  fill(job);
  const auto id = JobId::parse(job.id);
  if (const auto waiting = id ? tables_.scheduler.views().waiting(*id, now.at) : std::nullopt) {
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
  LateView late = id ? canaries_.why_late(*id, now.at) : LateView{};
  if (id && late.sentence.empty()) late = verifier_.why_late(*id, now.at);
  if (!late.sentence.empty()) {
    job.waiting.reason = std::string(scheduler::to_string(scheduler::WaitReason::checks));
    job.waiting.detail = late.sentence;
    job.waiting.task = late.task;
  }
  tables_.outbox.effect([answer = std::move(answer), job = std::move(job)] { answer(job); });
}

void CoreViews::live_tasks(const JobId& id, std::vector<api::Task> tasks,
                           Answer<std::vector<api::Task>> answer) {
  if (auto* const job = tables_.jobs.find(id); job != nullptr) {
    for (auto& view : tasks) {
      if (view.state == "accepted") continue;
      const auto delivered = job->delivered.find(view.index);
      const auto leased = job->leased.find(view.index);
      if (delivered != job->delivered.end() && !delivered->second.empty()) {
        view.state = "checking";
      } else if (leased != job->leased.end() && !leased->second.empty()) {
        view.state = "leased";
      }
    }
  }
  tables_.outbox.effect([answer = std::move(answer), tasks = std::move(tasks)] { answer(tasks); });
}

void CoreViews::workers(Answer<api::Workers> answer) {
  api::Workers view;
  for (const auto& [key, worker] : tables_.workers.all())
    view.workers.push_back(worker_view(tables_, key, worker));
  for (protocol::api::Worker departed : tables_.workers.departed()) {
    if (const auto key = PublicKey::parse(departed.key)) {
      const auto reputation = tables_.trust.votes().reputation(*key);
      departed.accepted = reputation.accepted;
      departed.refused = reputation.refused;
      departed.held_pay = tables_.accounts.held_pay(*key);
      departed.balance = tables_.accounts.spendable(*key) + departed.held_pay;
    }
    view.workers.push_back(std::move(departed));
  }
  tables_.outbox.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void CoreViews::ledger(Answer<api::Ledger> answer) {
  api::Ledger view{.sum = tables_.accounts.ledger().sum(), .balances = {}};
  for (const auto& [account, amount] : tables_.accounts.ledger().balances())
    view.balances.push_back({.account = account.text(), .amount = amount});
  tables_.outbox.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void CoreViews::balance(std::span<const ledger::Account> accounts, Answer<MicroCredits> answer) {
  MicroCredits amount = 0;
  for (const ledger::Account& account : accounts)
    amount += tables_.accounts.ledger().balance(account);
  tables_.outbox.effect([answer = std::move(answer), amount] { answer(amount); });
}

void CoreViews::settlement(Answer<api::Settlement> answer) {
  api::Settlement view;
  for (const auto& [account, amount] : tables_.accounts.ledger().balances()) {
    if (account.kind == ledger::Account::Kind::settled)
      view.owners.push_back({.owner = OwnerId{{account.id}}.text(), .settled = amount});
  }
  tables_.outbox.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void CoreViews::metrics(Answer<std::string> answer) {
  tables_.outbox.replier(std::move(answer))(
      metrics_text(tables_, {.rechecks_running = paid_.rechecks.size(),
                             .samples = samples_.samples(),
                             .answers = completions_.counters()}));
}

}  // namespace weft::jobs
