#include "service/trust/referee.h"

#include <algorithm>
#include <iterator>

#include "common/base/check.h"

namespace weft::trust {

namespace {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

}  // namespace

struct Referee::Pass {
  UnixMillis now = 0;
  std::deque<Decision> todo;
  std::vector<Ruling> out;

  void add(std::vector<Decision> decisions) { std::ranges::move(decisions, std::back_inserter(todo)); }
};

void Referee::add_job(const JobId& id, JobTerms terms, std::uint32_t tasks) {
  trust_.add_job(id, {.replicas = terms.replicas, .agree = terms.agree}, tasks);
  Job& job = jobs_[id];
  job.terms = std::move(terms);
  job.tasks = tasks;
}

void Referee::remove_job(const JobId& id) {
  trust_.remove_job(id);
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  for (const auto& [index, open] : job->second.cases) {
    const TaskId task{.job = id, .index = index};
    (void)stakes_.unlock(open.worker, task);
    if (open.stage == Stage::held) unhold(task, open);
  }
  jobs_.erase(job);
}

std::vector<Ruling> Referee::restored(const JobId& id, MicroCredits value, const StakeOf& stake, UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  const auto job = jobs_.find(id);
  check(job != jobs_.end(), "a job is restored after it is added");
  if (value > 0) job->second.value = value;
  for (std::uint32_t index = 0; index < job->second.tasks; ++index) {
    const TaskId task{.job = id, .index = index};
    const auto counted = trust_.counted(task);
    if (counted.empty()) continue;
    const PublicKey& first = counted.front().worker;
    const auto goes_on = [&](Stage stage, const Ballot& ballot) {
      job->second.cases.emplace(index,
                                Case{.stage = stage, .worker = first, .value = value, .rates = {}, .root = counted.front().root, .accuser = {}});
      trust_.set_ballot(task, ballot);
    };
    if (counted.size() == 1) {
      begin(task, first, value, stake(first), pass);
    } else if (trust_.differ(task) && trust_.policy_decides(task)) {
      // It would be settled, had a jury not been asked for.
      const JobTerms& terms = job->second.terms;
      if (book_.established(first, now))
        (void)stakes_.lock(first, task, stake_for(value, rates(first, terms, now), settings_.checks.collusion), stake(first));
      goes_on(Stage::disputed, {.quorum = 1, .lead = lead()});
    } else if (settings_.newcomer_lead > 0 && job->second.terms.replicas > 1 && !trust_.differ(task)) {
      goes_on(Stage::newcomer, {.quorum = 2, .lead = 2, .held = true});  // Looks again whether they are believed.
    } else if (job->second.terms.replicas > 1 && counted.size() < job->second.terms.replicas * 2 - 1 && book_.established(first, now)) {
      // It may have been under dispute; a few votes more do no harm where it was not.
      goes_on(Stage::replicated, {.quorum = job->second.terms.replicas, .lead = 2});
    } else if (counted.size() < job->second.terms.replicas) {
      pass.todo.push_back(NeedReplicas{.task = task, .replicas = job->second.terms.replicas});  // As begin() had said.
    }
  }
  pass.add(trust_.restored(id));
  run(pass);
  return std::move(pass.out);
}

CheckRates Referee::rates(const PublicKey& worker, const JobTerms& terms, UnixMillis now) const {
  return rates_at(book_.reputation(worker, now), terms.parts, terms.audit, settings_.checks);
}

bool Referee::works_alone(const PublicKey& worker, const JobId& id, MicroCredits value, MicroCredits stake, UnixMillis now) const {
  const auto job = jobs_.find(id);
  if (job == jobs_.end() || job->second.terms.replicas < 2 || value <= 0 || !book_.established(worker, now)) return false;
  return stake_for(value, rates(worker, job->second.terms, now), settings_.checks.collusion) <= stake - stakes_.locked(worker);
}

std::vector<Ruling> Referee::leased(const TaskId& task, const PublicKey& worker, MicroCredits value, MicroCredits stake, UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  begin(task, worker, value, stake, pass);
  run(pass);
  return std::move(pass.out);
}

void Referee::begin(const TaskId& task, const PublicKey& worker, MicroCredits value, MicroCredits stake, Pass& pass) {
  const auto found = jobs_.find(task.job);
  if (found == jobs_.end() || task.index >= found->second.tasks || trust_.is_accepted(task) || found->second.cases.contains(task.index)) return;
  Job& job = found->second;
  const JobTerms& terms = job.terms;
  if (value > 0) job.value = value;
  Case open{.stage = Stage::alone, .worker = worker, .value = value, .rates = {}, .root = {}, .accuser = {}};
  if (terms.replicas == 1) {
    if (terms.audit <= 0) return;
    // Its client wants audits and nothing else.
    open.rates = {
        .replica = 0, .audit = terms.audit, .trap = 0, .parts = std::clamp<std::uint32_t>(terms.parts, 1, settings_.checks.audit_parts_max)};
    job.cases.emplace(task.index, open);
    trust_.set_ballot(task, {.quorum = 1, .lead = 1, .held = true});
    return;
  }
  open.rates = rates(worker, terms, pass.now);
  if (works_alone(worker, task.job, value, stake, pass.now) &&
      stakes_.lock(worker, task, stake_for(value, open.rates, settings_.checks.collusion), stake)) {
    job.cases.emplace(task.index, open);
    trust_.set_ballot(task, {.quorum = 1, .lead = 1, .held = true});
    return;
  }
  if (settings_.newcomer_lead > 0) {
    open.stage = Stage::newcomer;
    job.cases.emplace(task.index, open);
    trust_.set_ballot(task, {.quorum = 2, .lead = 2, .held = true});
  }
  pass.todo.push_back(NeedReplicas{.task = task, .replicas = settings_.newcomer_lead > 0 ? 2 : terms.replicas});
}

void Referee::lost(const TaskId& task, const PublicKey& worker) {
  trust_.withdraw(task, worker);
  const Case* open = case_of(task);
  if (open == nullptr || open->stage != Stage::alone || open->worker != worker || !trust_.counted(task).empty()) return;
  (void)stakes_.unlock(worker, task);
  trust_.clear_ballot(task);
  jobs_.at(task.job).cases.erase(task.index);
}

std::vector<Ruling> Referee::add_result(const Replica& replica, UnixMillis now) { return run(trust_.add_result(replica), now); }

std::vector<Ruling> Referee::add_receipt(const PublicKey& worker, std::span<const Claim> claims, UnixMillis now) {
  return run(trust_.add_receipt(worker, claims), now);
}

std::vector<Ruling> Referee::give_up(const TaskId& task, UnixMillis now) { return run(trust_.give_up(task, settings_.lead_min), now); }

bool Referee::audit_wanted(const TaskId& task) const {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return false;
  const auto open = job->second.cases.find(task.index);
  return open != job->second.cases.end() && open->second.stage == Stage::auditing;
}

std::vector<Ruling> Referee::audited(const TaskId& task, const PublicKey& auditor, AuditOutcome outcome, UnixMillis now) {
  if (!audit_wanted(task)) return {};
  Pass pass{.now = now, .todo = {}, .out = {}};
  Case& open = *case_of(task);
  switch (outcome) {
    case AuditOutcome::agrees:
      book_.confirm(open.worker, 1, now);
      release(task, pass);
      break;
    case AuditOutcome::differs:
      open.accuser = auditor;
      dispute(task, pass);
      break;
    case AuditOutcome::failed:
      ask(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
      break;
  }
  run(pass);
  return std::move(pass.out);
}

std::optional<Trap> Referee::trap_for(const TaskId& task, const PublicKey& worker, UnixMillis now) {
  if (!book_.established(worker, now) || draw(secret_, Purpose::trap, task, worker) >= settings_.checks.trap_floor) return {};
  return traps_.take(worker, draw_bits(secret_, Purpose::trap_choice, task, worker));
}

std::vector<Ruling> Referee::trap_answered(const Trap& trap, const PublicKey& worker, bool right, UnixMillis now) {
  if (right) {
    book_.confirm(worker, 1, now);
    return {};
  }
  Pass pass{.now = now, .todo = {}, .out = {}};
  convict(trap.task, worker, trap.value, "The answer to a task whose answer is known is wrong.", pass);
  run(pass);
  return std::move(pass.out);
}

Referee::Case* Referee::case_of(const TaskId& task) {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return nullptr;
  const auto open = job->second.cases.find(task.index);
  return open == job->second.cases.end() ? nullptr : &open->second;
}

std::vector<Ruling> Referee::run(std::vector<Decision> decisions, UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  pass.add(std::move(decisions));
  run(pass);
  return std::move(pass.out);
}

void Referee::run(Pass& pass) {
  while (!pass.todo.empty()) {
    const Decision decision = std::move(pass.todo.front());
    pass.todo.pop_front();
    std::visit(Match{[&](const Counted& counted) { pass.out.emplace_back(counted); },
                     [&](const JobFailed& failed) {
                       remove_job(failed.job);
                       pass.out.emplace_back(failed);
                     },
                     [&](const auto& other) { on(other, pass); }},
               decision);
  }
}

// What wins a held ballot.
void Referee::on(const Provisional& provisional, Pass& pass) {
  const TaskId& task = provisional.task;
  Case* open = case_of(task);
  if (open == nullptr || (open->stage != Stage::alone && open->stage != Stage::newcomer)) return;
  const auto established = [&](const PublicKey& worker) { return book_.established(worker, pass.now); };
  if (provisional.agreeing.size() > 1) {
    const bool believed = open->stage == Stage::alone || std::ranges::any_of(provisional.agreeing, established);
    if (believed || provisional.agreeing.size() >= settings_.newcomer_lead) return release(task, pass);
    return ask(task, Stage::newcomer, {.quorum = settings_.newcomer_lead, .lead = settings_.newcomer_lead, .held = true}, pass);
  }
  open->root = provisional.root;
  const bool audits_only = jobs_.at(task.job).terms.replicas == 1;
  // Convicted since, or another one was faster than who had the lease.
  if (!audits_only && (provisional.agreeing.front() != open->worker || !established(open->worker))) {
    return ask(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  }
  if (audits_only) open->worker = provisional.agreeing.front();
  if (draw(secret_, Purpose::replica, task, open->worker) < open->rates.replica) return ask(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  if (draw(secret_, Purpose::audit, task, open->worker) >= open->rates.audit) return audits_only ? release(task, pass) : hold(task, pass);
  open->stage = Stage::auditing;
  const auto counted = trust_.counted(task);
  const auto part = static_cast<std::uint32_t>(draw_below(open->rates.parts, secret_, Purpose::audit_part, task, open->worker));
  pass.out.emplace_back(AuditWanted{
      .task = task, .suspect = open->worker, .attempt = counted.front().attempt, .root = open->root, .part = part, .parts = open->rates.parts});
}

void Referee::on(const NeedReplicas& need, Pass& pass) {
  const Case* open = case_of(need.task);
  const bool differ = open != nullptr && (open->stage == Stage::replicated || open->stage == Stage::newcomer) && need.replicas > 2 &&
                      trust_.counted(need.task).size() >= 2 && trust_.differ(need.task);
  if (differ) return dispute(need.task, pass);
  pass.out.emplace_back(need);
}

void Referee::on(const Accepted& accepted, Pass& pass) {
  const TaskId& task = accepted.task;
  std::vector<PublicKey> group = accepted.agreeing;
  group.insert(group.end(), accepted.jurors.begin(), accepted.jurors.end());
  const auto believed =
      static_cast<std::size_t>(std::ranges::count_if(group, [&](const PublicKey& each) { return book_.established(each, pass.now); }));
  if (group.size() > 1) {
    // As much as those who confirm it are worth: one that is established, or as many others as a jury has; less in proportion.
    const double crowd = std::min(1.0, static_cast<double>(group.size() - 1) / (lead() - 1));
    std::vector<double> weights;
    for (const PublicKey& each : group) weights.push_back(believed > (book_.established(each, pass.now) ? 1U : 0U) ? 1.0 : crowd);
    for (std::size_t i = 0; i < group.size(); ++i) book_.confirm(group[i], weights[i], pass.now);
  }
  Job& job = jobs_.at(task.job);
  if (group.size() >= lead()) {  // Less may be two accomplices, and who is right would be convicted.
    traps_.add({.task = task, .root = accepted.root, .value = job.value}, group);
  }
  pass.out.emplace_back(accepted);

  if (const auto found = job.cases.find(task.index); found != job.cases.end()) {
    const Case closed = std::move(found->second);
    job.cases.erase(found);
    (void)stakes_.unlock(closed.worker, task);
    if (closed.stage == Stage::held) {
      unhold(task, closed);
      --job.held;
    }
    if (closed.accuser) {
      const bool suspect_was_right = closed.root == accepted.root || (job.terms.agree && job.terms.agree(task, closed.root, accepted.root));
      if (suspect_was_right) {
        convict(task, *closed.accuser, closed.value, "The audit that it reported is refuted.", pass);
      } else {
        book_.confirm(*closed.accuser, 1, pass.now);
      }
    }
  }
  release_if_last(task.job, pass);
}

void Referee::on(const Refused& refused, Pass& pass) {
  pass.out.emplace_back(refused);
  if (!refused.wrong) return;
  if (refused.margin < settings_.lead_min) return book_.doubt(refused.worker, pass.now);
  const auto job = jobs_.find(refused.task.job);
  convict(refused.task, refused.worker, job == jobs_.end() ? 0 : job->second.value, refused.reason, pass);
}

void Referee::ask(const TaskId& task, Stage stage, const Ballot& ballot, Pass& pass) {
  case_of(task)->stage = stage;
  trust_.set_ballot(task, ballot);
  pass.add(trust_.reconsider(task));
}

void Referee::dispute(const TaskId& task, Pass& pass) { ask(task, Stage::disputed, {.quorum = 1, .lead = lead()}, pass); }

void Referee::hold(const TaskId& task, Pass& pass) {
  Case& open = *case_of(task);
  open.stage = Stage::held;
  (void)stakes_.unlock(open.worker, task);  // Nothing more is drawn for it; its pay is what it still has to lose.
  ++jobs_.at(task.job).held;
  auto& held = holds_[open.worker];
  held.push_back(task);
  if (held.size() > settings_.hold_max) release(TaskId(held.front()), pass);
  release_if_last(task.job, pass);
}

void Referee::release(const TaskId& task, Pass& pass) {
  trust_.set_ballot(task, {.quorum = 1, .lead = 1});
  pass.add(trust_.reconsider(task));
}

void Referee::release_if_last(const JobId& id, Pass& pass) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end() || job->second.held == 0 || trust_.accepted_count(id) + job->second.held != job->second.tasks) return;
  for (const auto& [index, open] : job->second.cases) {
    if (open.stage == Stage::held) release({.job = id, .index = index}, pass);
  }
}

void Referee::unhold(const TaskId& task, const Case& held) {
  const auto of_worker = holds_.find(held.worker);
  if (of_worker == holds_.end()) return;
  std::erase(of_worker->second, task);
  if (of_worker->second.empty()) holds_.erase(of_worker);
}

void Referee::convict(const TaskId& task, const PublicKey& worker, MicroCredits value, std::string reason, Pass& pass) {
  MicroCredits penalty = stakes_.unlock(worker, task);
  if (penalty == 0) {
    // Not its task alone (a juror, an auditor, a trap): as if it had been.
    const auto job = jobs_.find(task.job);
    const JobTerms any{.replicas = 2, .audit = 0, .parts = settings_.checks.audit_parts_max, .agree = {}};
    penalty = stake_for(value, rates(worker, job == jobs_.end() ? any : job->second.terms, pass.now), settings_.checks.collusion);
  }
  convict(task, worker, penalty, value, std::move(reason), pass);
}

std::vector<Ruling> Referee::convicted(const TaskId& what, const PublicKey& worker, MicroCredits penalty, MicroCredits value, std::string reason,
                                       UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  convict(what, worker, penalty, value, std::move(reason), pass);
  run(pass);
  return std::move(pass.out);
}

void Referee::convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty, MicroCredits value, std::string reason, Pass& pass) {
  book_.convict(worker, pass.now);
  pass.out.emplace_back(Convicted{.task = task, .worker = worker, .penalty = penalty, .value = value, .reason = std::move(reason)});
  const auto held = holds_.extract(worker);
  if (held.empty()) return;
  for (const TaskId& each : held.mapped()) {
    --jobs_.at(each.job).held;
    ask(each, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  }
}

}  // namespace weft::trust
