#include "decisions/trust/referee.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "common/base/check.h"
#include "common/base/match.h"

namespace weft::trust {

struct Referee::Pass {
  UnixMillis now = 0;
  std::deque<Decision> todo;
  std::vector<Ruling> out;

  void add(std::vector<Decision> decisions) {
    std::ranges::move(decisions, std::back_inserter(todo));
  }
};

namespace {

// What is locked for a mismatch, beside what is locked for the task.
TaskId risk_of(const TaskId& task) { return {.job = task.job, .index = ~task.index}; }

}  // namespace

void Referee::add_job(const JobId& id, JobTerms terms, std::uint32_t tasks) {
  Policy policy{.replicas = terms.replicas, .agree = terms.agree};
  if (!trusts_heads() && !terms.by_heads())
    policy.decides = [this](std::span<const PublicKey> workers) { return settles(workers, now_); };
  trust_.add_job(id, std::move(policy), tasks);
  Job& job = jobs_[id];
  job.terms = std::move(terms);
  job.tasks = tasks;
}

Level Referee::level(const PublicKey& worker, UnixMillis now) const {
  if (book_.suspended(worker, now)) return Level::newcomer;
  switch (admissions_.invitation(worker)) {
    case Invitation::verifier:
      return Level::root;
    case Invitation::worker:
      return Level::invited;
    case Invitation::none:
      break;
  }
  return book_.established(worker, now) ? Level::established : Level::newcomer;
}

bool Referee::decides(std::span<const PublicKey> workers, UnixMillis now) const {
  if (trusts_heads()) return true;
  std::optional<PublicKey> first;
  for (const PublicKey& worker : workers) {
    switch (level(worker, now)) {
      case Level::root:
      case Level::invited:
        return true;
      case Level::established: {
        const PublicKey owner = admissions_.owner(worker);
        if (first && *first != owner) return true;
        first = owner;
        break;
      }
      case Level::newcomer:
        break;
    }
  }
  return false;
}

bool Referee::settles(std::span<const PublicKey> workers, UnixMillis now) const {
  if (!decides(workers, now)) return false;
  if (!settings_.defences.roots_check_pairs || !root_at_hand()) return true;
  return std::ranges::any_of(workers, [&](const PublicKey& worker) {
    const Level its = level(worker, now);
    return its == Level::root || its == Level::invited;
  });
}

std::uint32_t Referee::leases_max(const PublicKey& worker, UnixMillis now) const {
  if (trusts_heads() || level(worker, now) != Level::newcomer)
    return std::numeric_limits<std::uint32_t>::max();
  const auto found = passes_.find(worker);
  const std::uint32_t passed = found == passes_.end() ? 0 : found->second;
  return std::min(std::bit_ceil(std::min(passed, settings_.newcomer_leases_max) + 1),
                  settings_.newcomer_leases_max);
}

double Referee::sample_share(const PublicKey& worker, UnixMillis now) const {
  return suspicion_.contains(worker) ? 1 : 1 / (1 + book_.verified(worker, now));
}

void Referee::remove_job(const JobId& id) {
  trust_.remove_job(id);
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  for (const auto& [index, open] : job->second.cases) {
    const TaskId task{.job = id, .index = index};
    (void)stakes_.unlock(open.worker, task);
    if (open.stage == Stage::held) unhold(task, open);
    for (const Mismatch& each : open.mismatches)
      (void)stakes_.unlock(each.worker, risk_of(each.task));
  }
  // What no worker of its vendor has confirmed costs nothing.
  for (const auto& [vendor, tally] : job->second.vendors) {
    for (const Mismatch& each : tally.open) {
      if (!each.counted) (void)stakes_.unlock(each.worker, risk_of(each.task));
    }
  }
  jobs_.erase(job);
}

void Referee::set_value(const JobId& id, MicroCredits value) {
  if (const auto job = jobs_.find(id); job != jobs_.end() && value > 0) job->second.value = value;
}

std::vector<Ruling> Referee::restored(const JobId& id, MicroCredits value, const StakeOf& stake,
                                      UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  now_ = now;
  const auto job = jobs_.find(id);
  check(job != jobs_.end(), "a job is restored after it is added");
  if (value > 0) job->second.value = value;
  for (std::uint32_t index = 0; index < job->second.tasks; ++index) {
    const TaskId task{.job = id, .index = index};
    const auto counted = trust_.counted(task);
    if (counted.empty()) continue;
    const PublicKey& first = counted.front().worker;
    const auto goes_on = [&](Stage stage, const Ballot& ballot) {
      job->second.cases.emplace(index, Case{.stage = stage,
                                            .worker = first,
                                            .value = value,
                                            .rates = {},
                                            .root = counted.front().root,
                                            .accuser = {},
                                            .suspect = first});
      trust_.set_ballot(task, ballot);
    };
    if (counted.size() == 1) {
      begin(task, first, value, stake(first), pass);
    } else if (trust_.differ(task) && trust_.policy_decides(task) &&
               (trusts_heads() || book_.established(first, now))) {
      // It would be settled, had a jury not been asked for.
      const JobTerms& terms = job->second.terms;
      if (book_.established(first, now))
        (void)stakes_.lock(first, task, at_risk(value, rates(first, terms, now)), stake(first));
      goes_on(Stage::disputed, {.quorum = 1, .lead = lead()});
    } else if (job->second.terms.replicas > 1 &&
               counted.size() < job->second.terms.replicas * 2 - 1 &&
               book_.established(first, now)) {
      // It may have been under dispute; a few votes more do no harm where it was not.
      goes_on(Stage::replicated, {.quorum = job->second.terms.replicas, .lead = 2});
    } else if (counted.size() < job->second.terms.replicas) {
      pass.todo.push_back(NeedReplicas{
          .task = task, .replicas = job->second.terms.replicas});  // As begin() had said.
    }
  }
  pass.add(trust_.restored(id));
  run(pass);
  return std::move(pass.out);
}

CheckRates Referee::rates(const PublicKey& worker, const JobTerms& terms, UnixMillis now) const {
  CheckRates rates =
      rates_at(book_.reputation(worker, now), terms.parts, terms.audit, settings_.checks);
  if (trusts_heads()) return rates;
  // A part of every result, where that is a 32nd of the work; then nothing else need be drawn.
  rates.audit =
      std::max(rates.audit, static_cast<double>(rates.parts) / settings_.checks.audit_parts_max);
  if (rates.audit >= 1) rates.replica = settings_.checks.replica_floor;
  return rates;
}

MicroCredits Referee::at_risk(MicroCredits value, const CheckRates& rates) const {
  const MicroCredits least = stake_for(value, rates, settings_.checks.collusion);
  if (trusts_heads() || value <= 0) return least;
  // One wrong part of `parts`; an accomplice that audits says nothing.
  const double found = std::max(rates.audit / rates.parts, settings_.checks.replica_floor) *
                       (root_at_hand() ? 1 : 1 - settings_.checks.collusion);
  return std::max(least, static_cast<MicroCredits>(
                             std::ceil(settings_.risk * static_cast<double>(value) / found)));
}

bool Referee::works_alone(const PublicKey& worker, const JobId& id, MicroCredits value,
                          MicroCredits stake, UnixMillis now) const {
  const auto job = jobs_.find(id);
  if (job == jobs_.end() || job->second.terms.replicas < 2 || value <= 0 ||
      !book_.established(worker, now))
    return false;
  return at_risk(value, rates(worker, job->second.terms, now)) <= stake - stakes_.locked(worker);
}

std::vector<Ruling> Referee::leased(const TaskId& task, const PublicKey& worker, MicroCredits value,
                                    MicroCredits stake, UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  now_ = now;
  begin(task, worker, value, stake, pass);
  run(pass);
  return std::move(pass.out);
}

void Referee::begin(const TaskId& task, const PublicKey& worker, MicroCredits value,
                    MicroCredits stake, Pass& pass) {
  const auto found = jobs_.find(task.job);
  if (found == jobs_.end() || task.index >= found->second.tasks || trust_.is_accepted(task) ||
      found->second.cases.contains(task.index))
    return;
  Job& job = found->second;
  const JobTerms& terms = job.terms;
  if (value > 0) job.value = value;
  Case open{.stage = Stage::alone,
            .worker = worker,
            .value = value,
            .rates = {},
            .root = {},
            .accuser = {},
            .suspect = worker};
  if (terms.replicas == 1) {
    // What others hand in alone is sampled in any case.
    if (terms.audit <= 0 || !decides(std::array{worker}, pass.now)) return;
    // Its client wants audits and nothing else.
    open.rates = {
        .replica = 0,
        .audit = terms.audit,
        .trap = 0,
        .parts = std::clamp<std::uint32_t>(terms.parts, 1, settings_.checks.audit_parts_max)};
    job.cases.emplace(task.index, open);
    trust_.set_ballot(task, {.quorum = 1, .lead = 1, .held = true});
    return;
  }
  open.rates = rates(worker, terms, pass.now);
  if (works_alone(worker, task.job, value, stake, pass.now) &&
      stakes_.lock(worker, task, at_risk(value, open.rates), stake)) {
    job.cases.emplace(task.index, open);
    trust_.set_ballot(task, {.quorum = 1, .lead = 1, .held = true});
    return;
  }
  pass.todo.push_back(NeedReplicas{.task = task, .replicas = terms.replicas});
}

void Referee::lost(const TaskId& task, const PublicKey& worker) {
  trust_.withdraw(task, worker);
  const Case* open = case_of(task);
  if (open == nullptr || open->stage != Stage::alone || open->worker != worker ||
      !trust_.counted(task).empty())
    return;
  (void)stakes_.unlock(worker, task);
  trust_.clear_ballot(task);
  jobs_.at(task.job).cases.erase(task.index);
}

std::vector<Ruling> Referee::add_result(const Replica& replica, UnixMillis now) {
  now_ = now;
  return run(trust_.add_result(replica), now);
}

std::vector<Ruling> Referee::add_receipt(const PublicKey& worker, std::span<const Claim> claims,
                                         UnixMillis now) {
  now_ = now;
  return run(trust_.add_receipt(worker, claims), now);
}

std::vector<Ruling> Referee::give_up(const TaskId& task, UnixMillis now) {
  now_ = now;
  return run(trust_.give_up(task, settings_.lead_min), now);
}

bool Referee::audit_wanted(const TaskId& task) const {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return false;
  const auto open = job->second.cases.find(task.index);
  return open != job->second.cases.end() && open->second.stage == Stage::auditing;
}

std::vector<Ruling> Referee::audited(const TaskId& task, const PublicKey& auditor,
                                     AuditOutcome outcome, UnixMillis now, Auditor who,
                                     const Finding& finding) {
  if (!audit_wanted(task)) return {};
  Pass pass{.now = now, .todo = {}, .out = {}};
  now_ = now;
  Case& open = *case_of(task);
  open.finding = finding;
  if (who == Auditor::worker) open.finding.vendor = std::string(admissions_.vendor(auditor));
  const Level by = who == Auditor::coordinator ? Level::root : level(auditor, now);
  const bool disputed = trust_.groups(task).size() > 1;
  if (outcome != AuditOutcome::failed && by == Level::newcomer && !trusts_heads() &&
      !jobs_.at(task.job).terms.by_heads())
    outcome = AuditOutcome::failed;  // It has lost its level since it was asked.
  switch (outcome) {
    case AuditOutcome::agrees:
      if (by == Level::root) open.root_agrees = true;
      if (disputed && by != Level::root && !trusts_heads()) {
        dispute(task, pass);
        break;
      }
      if (by == Level::established && !trusts_heads() &&
          level(open.suspect, now) == Level::newcomer && open.seconded.empty()) {
        // One established worker's word and a newcomer's: another one has to agree.
        open.seconded.push_back(auditor);
        sample(task, Hash(open.root), PublicKey(open.suspect), pass);
        break;
      }
      if (by == Level::established && !trusts_heads() && !open.believed && root_at_hand() &&
          draw(secret_, Purpose::recheck, task, auditor) < settings_.defences.root_rechecks) {
        check_pair(task, Hash(open.root), PublicKey(open.suspect), pass);
        break;
      }
      passed(task, pass);
      break;
    case AuditOutcome::differs:
      if (by == Level::root && settings_.defences.only_roots_convict) {
        reject(task, pass);
        break;
      }
      open.accuser = auditor;
      dispute(task, pass);
      break;
    case AuditOutcome::failed:
      if (open.believed && !disputed) {
        passed(task, pass);
        break;
      }
      if (!trusts_heads() && (disputed || open.accuser)) {
        // There is no root: trusted workers compute it again.
        open.rootless = true;
        ask(task, Stage::disputed, {.quorum = 2, .lead = 1}, pass);
        break;
      }
      ask(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
      break;
  }
  run(pass);
  return std::move(pass.out);
}

std::optional<Trap> Referee::trap_for(const TaskId& task, const PublicKey& worker, UnixMillis now) {
  if (!book_.established(worker, now) ||
      draw(secret_, Purpose::trap, task, worker) >= settings_.checks.trap_floor)
    return {};
  return traps_.take(worker, draw_bits(secret_, Purpose::trap_choice, task, worker));
}

std::vector<Ruling> Referee::trap_answered(const Trap& trap, const PublicKey& worker, bool right,
                                           UnixMillis now) {
  now_ = now;
  if (right) {
    book_.confirm(worker, 1, now);
    return {};
  }
  Pass pass{.now = now, .todo = {}, .out = {}};
  if (trap.client) {
    // The right answer of a client's job may differ by device.
    const bool confirmed = std::ranges::any_of(trap.by, [&](const PublicKey& each) {
      const Level its = level(each, now);
      return (its == Level::root || its == Level::invited) &&
             admissions_.owner(each) != admissions_.owner(worker) &&
             admissions_.same_vendor(each, worker);
    });
    if (settings_.defences.same_vendor_confirms && !confirmed) return {};
    if (!seen_twice({.worker = worker}, trap.by, now)) return {};
    const auto known = evidence_.mismatch(worker, {.client = admissions_.owner(*trap.client),
                                                   .task = trap.task,
                                                   .at = now,
                                                   .penalty = at_risk(trap.value, {})});
    if (known.clients < settings_.defences.clients_to_convict) return {};
    convict(trap.task, worker, known.penalty, trap.value,
            "Results of jobs of several clients are wrong.", pass);
    run(pass);
    return std::move(pass.out);
  }
  convict(trap.task, worker, trap.value, "The answer to a task whose answer is known is wrong.",
          pass);
  run(pass);
  return std::move(pass.out);
}

Referee::Case* Referee::case_of(const TaskId& task) {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return nullptr;
  const auto open = job->second.cases.find(task.index);
  return open == job->second.cases.end() ? nullptr : &open->second;
}

Referee::Case& Referee::case_for(const TaskId& task, const PublicKey& worker) {
  Job& job = jobs_.at(task.job);
  return job.cases
      .try_emplace(task.index, Case{.stage = Stage::newcomer,
                                    .worker = worker,
                                    .value = job.value,
                                    .rates = {},
                                    .root = {},
                                    .accuser = {},
                                    .suspect = worker})
      .first->second;
}

std::vector<Ruling> Referee::run(std::vector<Decision> decisions, UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  now_ = now;
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

// What wins a held ballot, or would be accepted if those who agree decided.
void Referee::on(const Provisional& provisional, Pass& pass) {
  const TaskId& task = provisional.task;
  if (!jobs_.contains(task.job)) return;
  Case* open = &case_for(task, provisional.agreeing.front());
  if (open->stage == Stage::auditing || open->stage == Stage::held) return;
  const auto& agreeing = provisional.agreeing;
  if (open->stage != Stage::alone) {
    if (settles(agreeing, pass.now)) return release(task, pass, provisional.root);
    if (decides(agreeing, pass.now) && trust_.groups(task).size() == 1)
      return check_pair(task, provisional.root, agreeing.front(), pass);
    if (trust_.groups(task).size() > 1) {
      if (!open->rootless) return dispute(task, pass);
      // One more, of a trusted worker.
      pass.out.emplace_back(NeedReplicas{.task = task, .replicas = trust_.votes(task) + 1});
      return;
    }
    return sample(task, provisional.root, agreeing.front(), pass);
  }
  if (agreeing.size() > 1) {
    if (settles(agreeing, pass.now)) return release(task, pass, provisional.root);
    if (decides(agreeing, pass.now))
      return check_pair(task, provisional.root, agreeing.front(), pass);
    return sample(task, provisional.root, agreeing.front(), pass);
  }
  open->root = provisional.root;
  const bool audits_only = jobs_.at(task.job).terms.replicas == 1;
  // Convicted since, or another one was faster than the worker that had the lease.
  if (!audits_only &&
      (agreeing.front() != open->worker || !book_.established(open->worker, pass.now))) {
    return ask(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  }
  if (audits_only) open->worker = agreeing.front();
  open->suspect = open->worker;
  if (draw(secret_, Purpose::replica, task, open->worker) < open->rates.replica)
    return ask(task, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  if (!watched(open->worker) &&
      draw(secret_, Purpose::audit, task, open->worker) >= open->rates.audit)
    return audits_only ? release(task, pass, open->root) : hold(task, pass);
  sample(task, provisional.root, open->worker, pass);
}

// Two established workers agree: a root looks at a part, since both may be accomplices.
void Referee::check_pair(const TaskId& task, const Hash& root, const PublicKey& first, Pass& pass) {
  sample(task, root, first, pass);
  case_of(task)->believed = true;
  std::get<AuditWanted>(pass.out.back()).by_root = true;
}

// At least one part of what it handed in is computed again, by a root or by those whom free wallets
// cannot be. A newcomer's first results are checked whole, and later ones the less the more of them
// a root has confirmed.
void Referee::sample(const TaskId& task, const Hash& root, const PublicKey& suspect, Pass& pass) {
  Case& open = *case_of(task);
  const JobTerms& terms = jobs_.at(task.job).terms;
  leave_hold(task, open);
  open.stage = Stage::auditing;
  open.root = root;
  open.suspect = suspect;
  const std::uint32_t parts =
      open.rates.audit > 0
          ? open.rates.parts
          : std::clamp<std::uint32_t>(terms.parts, 1, settings_.checks.audit_parts_max);
  AuditWanted wanted{.task = task, .suspect = suspect, .root = root, .parts = parts};
  for (const Replica& each : trust_.counted(task)) {
    if (each.worker == suspect) wanted.attempt = each.attempt;
  }
  wanted.part = static_cast<std::uint32_t>(
      draw_below(parts, secret_, Purpose::audit_part, task, suspect, open.audits++));
  wanted.trusted_only = !trusts_heads() && !terms.by_heads();
  const bool newcomer = level(suspect, pass.now) == Level::newcomer;
  if (newcomer && !trusts_heads()) {
    const double known = book_.verified(suspect, pass.now);
    wanted.samples =
        std::max(1U, static_cast<std::uint32_t>(static_cast<double>(parts) / (1 + known)));
  }
  if (const auto suspected = suspicion_.find(suspect);
      suspected != suspicion_.end() && !trusts_heads()) {
    wanted.samples = parts;
    if (--suspected->second == 0) suspicion_.erase(suspected);
  }
  wanted.except = open.seconded;
  for (const Trust::Group& group : trust_.groups(task)) {
    if (group.root != root) wanted.rivals.push_back(group.root);
  }
  wanted.dispute = !wanted.rivals.empty();
  open.rivals = wanted.rivals;
  open.part = wanted.part;
  open.samples = wanted.samples;
  pass.out.emplace_back(std::move(wanted));
}

// A root found what the worker handed in wrong.
void Referee::note_mismatch(const TaskId& task, const PublicKey& worker, const Hash& root,
                            Pass& pass) {
  Case& open = *case_of(task);
  MicroCredits penalty = worker == open.worker ? stakes_.unlock(worker, task) : 0;
  if (penalty == 0)
    penalty = at_risk(open.value, rates(worker, jobs_.at(task.job).terms, pass.now));
  Finding finding{
      .devices = open.finding.devices, .vendor = open.finding.vendor, .part = open.finding.part};
  for (const auto& [other, part] : open.finding.rivals) {
    if (other == root) finding.part = part;
  }
  open.mismatches.push_back({.worker = worker,
                             .penalty = penalty,
                             .task = task,
                             .root = root,
                             .finding = std::move(finding)});
  // It cannot be withdrawn before it is known whose fault it was.
  (void)stakes_.lock(worker, risk_of(task), penalty, std::numeric_limits<MicroCredits>::max() / 2);
  if (level(worker, pass.now) != Level::newcomer)
    jobs_.at(task.job).vendors[std::string(admissions_.vendor(worker))].wrong.insert(
        admissions_.owner(worker));
  passes_[worker] = 0;
  const JobTerms& terms = jobs_.at(task.job).terms;
  if (settings_.defences.suspects_are_rechecked && open.finding.devices == Devices::two &&
      !terms.anyone && !book_.suspended(worker, pass.now))
    pass.out.emplace_back(
        Suspected{.task = task, .worker = worker, .client = admissions_.owner(terms.client)});
  // The more often, the longer: what cannot be told from its device's fault convicts no worker.
  constexpr std::uint32_t doublings_max = 16;
  suspicion_[worker] = settings_.whole_checks << std::min(mistakes_[worker]++, doublings_max);
}

// A root found the result wrong.
void Referee::reject(const TaskId& task, Pass& pass) {
  Case& open = *case_of(task);
  const Hash root = open.root;
  std::vector<PublicKey> wrong;
  for (const Replica& each : trust_.counted(task)) {
    if (each.root == root) wrong.push_back(each.worker);
  }
  bool believed = false;
  for (const PublicKey& worker : wrong) {
    believed = believed || decides(std::array{worker}, pass.now);
    note_mismatch(task, worker, root, pass);
  }
  if (believed) {
    // The operator's own worker and a root differ: it is the job that differs by device.
    const JobId job = task.job;
    const std::string reason = "The operator's worker and the verifier differ.";
    remove_job(job);
    pass.out.emplace_back(JobFailed{.job = job, .reason = reason, .irreproducible = true});
    return;
  }
  // The worker that reported it was right; what comes next is another result.
  if (open.accuser) credit(task.job, *std::exchange(open.accuser, std::nullopt), pass);
  open.stage = Stage::newcomer;
  open.root = {};
  open.root_agrees = false;
  open.believed = false;
  open.seconded.clear();
  trust_.clear_ballot(task);
  pass.add(trust_.reject(task, root, "A check of the result found a wrong part."));
  for (const PublicKey& worker : wrong) recheck_held(worker, pass);
}

// A check found nothing wrong, of those who decide.
void Referee::passed(const TaskId& task, Pass& pass) {
  Case& open = *case_of(task);
  const bool own = !trusts_heads() && open.worker == open.suspect &&
                   book_.established(open.worker, pass.now) &&
                   jobs_.at(task.job).terms.replicas > 1 && stakes_.locked(open.worker) > 0;
  if (!settings_.defences.standing_under_roots) book_.confirm(open.suspect, 1, pass.now);
  if (open.root_agrees) {
    // It computed a part in which they differ, which refutes the others: once. A result that is
    // held may be looked at again, and if each time counted, two workers that are refuted by each
    // other's held results would have these computed again without end.
    for (const Replica& each : trust_.counted(task)) {
      if (!std::ranges::contains(open.rivals, each.root)) continue;
      if (settings_.defences.refuted_once &&
          std::ranges::any_of(open.mismatches, [&](const Mismatch& noted) {
            return noted.worker == each.worker && noted.root == each.root;
          }))
        continue;
      note_mismatch(task, each.worker, each.root, pass);
      recheck_held(each.worker, pass);
    }
    std::vector<PublicKey> right;
    for (const Replica& each : trust_.counted(task)) {
      if (each.root != open.root) continue;
      ++passes_[each.worker];
      credit(task.job, each.worker, pass);
      right.push_back(each.worker);
    }
    tally_right(task.job, right, pass);
  }
  // What is wrong in few parts only is found later, when the worker is.
  if (own) return hold(task, pass);
  release(task, pass, Hash(open.root));
}

void Referee::credit(const JobId& id, const PublicKey& worker, Pass& pass) {
  if (!settings_.defences.standing_under_roots) return;
  const Job& job = jobs_.at(id);
  if (!job.terms.evidence || job.terms.anyone) return;
  if (job.terms.eligible && job.terms.eligible() < settings_.defences.eligible_min) return;
  const double price = settings_.value_full <= 0 ? 1
                                                 : static_cast<double>(job.value) /
                                                       static_cast<double>(settings_.value_full);
  const double weight =
      evidence_.admit(worker, admissions_.owner(job.terms.client), std::clamp(price, 0.0, 1.0),
                      book_.verified(worker, pass.now), settings_.defences.client_share_max,
                      settings_.reputation.half_life, pass.now);
  if (weight > 0) book_.confirm(worker, std::min(weight, 1.0), pass.now);
}

void Referee::on(const NeedReplicas& need, Pass& pass) {
  const Case* open = case_of(need.task);
  const bool asked =
      open != nullptr && (open->stage == Stage::replicated || open->stage == Stage::newcomer);
  const bool differ =
      need.replicas > 2 && trust_.counted(need.task).size() >= 2 && trust_.differ(need.task);
  if (differ && !trusts_heads() && !jobs_.at(need.task.job).terms.by_heads()) {
    std::vector<Hash> believed;
    const bool rootless = open != nullptr && open->rootless;
    for (const Trust::Group& group : trust_.groups(need.task)) {
      if (rootless ? decides(group.workers, pass.now) : settles(group.workers, pass.now))
        believed.push_back(group.root);
    }
    if (believed.size() == 1) return release(need.task, pass, believed.front());
    if (believed.empty() && (open == nullptr || !open->rootless)) return dispute(need.task, pass);
  }
  if (differ && asked) return dispute(need.task, pass);
  pass.out.emplace_back(need);
}

void Referee::on(const Accepted& accepted, Pass& pass) {
  const TaskId& task = accepted.task;
  std::vector<PublicKey> group = accepted.agreeing;
  group.insert(group.end(), accepted.jurors.begin(), accepted.jurors.end());
  const auto believed = static_cast<std::size_t>(std::ranges::count_if(
      group, [&](const PublicKey& each) { return book_.established(each, pass.now); }));
  const bool checked = jobs_.at(task.job).terms.checked;
  const bool by_root = checked || std::ranges::any_of(group, [&](const PublicKey& each) {
                         return level(each, pass.now) == Level::root;
                       });
  if (settings_.defences.standing_under_roots && by_root) {
    for (const PublicKey& each : group) {
      if (level(each, pass.now) != Level::root) credit(task.job, each, pass);
    }
  }
  if (group.size() > 1 && !settings_.defences.standing_under_roots) {
    // As much as those who confirm it are worth: one that is established, or as many others as a
    // jury has; less in proportion.
    const double crowd = std::min(1.0, static_cast<double>(group.size() - 1) / (lead() - 1));
    std::vector<double> weights;
    for (const PublicKey& each : group)
      weights.push_back(believed > (book_.established(each, pass.now) ? 1U : 0U) ? 1.0 : crowd);
    for (std::size_t i = 0; i < group.size(); ++i) book_.confirm(group[i], weights[i], pass.now);
  }
  Job& job = jobs_.at(task.job);
  // Less than a root or a jury may be accomplices, and who is right would be convicted.
  if (settings_.defences.only_roots_convict ? by_root : group.size() >= lead()) {
    Trap trap{.task = task, .root = accepted.root, .value = job.value};
    if (settings_.defences.only_roots_convict) {
      trap.client = job.terms.client;
      trap.by = group;
    }
    traps_.add(trap, group);
  }
  pass.out.emplace_back(accepted);

  if (const auto found = job.cases.find(task.index); found != job.cases.end()) {
    Case closed = found->second;
    job.cases.erase(found);
    (void)stakes_.unlock(closed.worker, task);
    if (closed.stage == Stage::held) {
      unhold(task, closed);
      --job.held;
    }
    if (closed.accuser) {
      const bool suspect_was_right =
          closed.root == accepted.root ||
          (job.terms.agree && job.terms.agree(task, closed.root, accepted.root));
      const bool certain = !settings_.defences.only_roots_convict || by_root || closed.root_agrees;
      if (!certain) {
        // Trusted workers decided, which costs no standing.
      } else if (suspect_was_right) {
        refuted(task, closed, pass);
      } else {
        credit(task.job, *closed.accuser, pass);
        if (!settings_.defences.standing_under_roots) book_.confirm(*closed.accuser, 1, pass.now);
      }
    }
    settle_mismatches(closed, accepted, pass);
  }
  release_if_last(task.job, pass);
}

void Referee::on(const Refused& refused, Pass& pass) {
  pass.out.emplace_back(refused);
  if (!refused.wrong) return;
  if (!settings_.defences.only_roots_convict) {
    if (refused.margin < settings_.lead_min) return book_.doubt(refused.worker, pass.now);
    const auto job = jobs_.find(refused.task.job);
    convict(refused.task, refused.worker, job == jobs_.end() ? 0 : job->second.value,
            refused.reason, pass);
    return;
  }
  passes_[refused.worker] = 0;
}

// An auditor called a result wrong that is right. Its device may be the cause, as it may be of a
// wrong result: it counts as one.
void Referee::refuted(const TaskId& task, Case& closed, Pass& pass) {
  const PublicKey& auditor = *closed.accuser;
  if (!settings_.defences.only_roots_convict || !settings_.defences.same_vendor_confirms) {
    convict(task, auditor, closed.value, "The audit that it reported is refuted.", pass);
    return;
  }
  Job& job = jobs_.at(task.job);
  const MicroCredits penalty = at_risk(closed.value, rates(auditor, job.terms, pass.now));
  closed.mismatches.push_back({.worker = auditor, .penalty = penalty, .task = task});
  (void)stakes_.lock(auditor, risk_of(task), penalty, std::numeric_limits<MicroCredits>::max() / 2);
  if (level(auditor, pass.now) != Level::newcomer)
    job.vendors[std::string(admissions_.vendor(auditor))].wrong.insert(admissions_.owner(auditor));
}

// Whose results a root found wrong, now that the right one is known. A trusted worker of the same
// vendor that got it right shows that it was not the device.
void Referee::settle_mismatches(const Case& closed, const Accepted& accepted, Pass& pass) {
  const auto job = jobs_.find(accepted.task.job);
  if (closed.mismatches.empty() || job == jobs_.end() || job->second.terms.anyone) return;
  std::vector<PublicKey> group = accepted.agreeing;
  group.insert(group.end(), accepted.jurors.begin(), accepted.jurors.end());
  for (Mismatch mismatch : closed.mismatches) {
    const PublicKey& worker = mismatch.worker;
    if (mismatch.finding.devices == Devices::divided) {
      (void)stakes_.unlock(worker, risk_of(mismatch.task));
      continue;
    }
    mismatch.seen_twice = seen_twice(mismatch, group, pass.now);
    const bool by_operator = std::ranges::any_of(group, [&](const PublicKey& each) {
      const Level its = level(each, pass.now);
      return (its == Level::root || its == Level::invited) &&
             admissions_.owner(each) != admissions_.owner(worker) &&
             admissions_.same_vendor(each, worker);
    });
    if ((by_operator || !settings_.defences.same_vendor_confirms) && mismatch.seen_twice) {
      count_mismatch(accepted.task.job, mismatch, false, pass);
    } else {
      Tally& tally = job->second.vendors[std::string(admissions_.vendor(worker))];
      if (tally.divided) {
        (void)stakes_.unlock(worker, risk_of(mismatch.task));
      } else {
        tally.open.push_back(mismatch);
      }
    }
  }
  if (closed.root_agrees) tally_right(accepted.task.job, group, pass);
}

void Referee::tally_right(const JobId& id, std::span<const PublicKey> workers, Pass& pass) {
  if (trusts_heads()) return;
  std::vector<std::pair<Mismatch, bool>> shown;
  Job& job = jobs_.at(id);
  for (const PublicKey& each : workers) {
    if (level(each, pass.now) == Level::newcomer) continue;
    Tally& tally = job.vendors[std::string(admissions_.vendor(each))];
    tally.right.insert(admissions_.owner(each));
    std::erase_if(tally.open, [&](Mismatch& open) {
      const std::ptrdiff_t lead = lead_of_right(tally, open.worker);
      if (open.agreed < settings_.defences.part_lead_to_count || !open.seen_twice ||
          lead < static_cast<std::ptrdiff_t>(settings_.defences.lead_to_count))
        return false;
      const bool conclusive =
          lead >= static_cast<std::ptrdiff_t>(settings_.defences.lead_to_convict);
      if (conclusive || !std::exchange(open.counted, true)) shown.emplace_back(open, conclusive);
      return conclusive;
    });
  }
  for (const auto& [mismatch, conclusive] : shown) count_mismatch(id, mismatch, conclusive, pass);
  if (settings_.defences.part_lead_to_count > 0) poll(id, pass);
}

// The root's one device may be wrong, or be what a client wrote its shader against.
bool Referee::seen_twice(const Mismatch& mismatch, std::span<const PublicKey> right,
                         UnixMillis now) const {
  if (!settings_.defences.two_devices || mismatch.finding.devices == Devices::two) return true;
  const auto differ = [](std::string_view a, std::string_view b) {
    return !a.empty() && !b.empty() && a != b;
  };
  // Many of the suspect's vendor have to agree with the root in any case.
  if (differ(admissions_.vendor(mismatch.worker), mismatch.finding.vendor)) return true;
  std::vector<PublicKey> established;
  for (const PublicKey& each : right) {
    const Level its = level(each, now);
    if (its == Level::newcomer || admissions_.owner(each) == admissions_.owner(mismatch.worker))
      continue;
    if (its != Level::established && differ(admissions_.vendor(each), mismatch.finding.vendor))
      return true;
    for (const PublicKey& other : established) {
      if (admissions_.owner(other) != admissions_.owner(each) &&
          differ(admissions_.vendor(other), admissions_.vendor(each)))
        return true;
    }
    established.push_back(each);
  }
  return false;
}

// A job may differ by device in one task only, so that what others got right elsewhere in it says
// nothing of the part that the suspect got wrong.
void Referee::poll(const JobId& id, Pass& pass) {
  Job& job = jobs_.at(id);
  const std::uint32_t parts =
      std::clamp<std::uint32_t>(job.terms.parts, 1, settings_.checks.audit_parts_max);
  const auto most = std::max<std::uint64_t>(
      std::uint64_t{2} * parts, static_cast<std::uint64_t>(settings_.defences.polled_share_max *
                                                           static_cast<double>(job.tasks) * parts));
  if (job.polling || job.parts_polled >= most) return;
  for (auto& [vendor, tally] : job.vendors) {
    if (tally.divided) continue;
    for (Mismatch& open : tally.open) {
      if (open.polled || !open.seen_twice || !open.finding.part ||
          book_.verified(open.worker, pass.now) < 1 ||
          lead_of_right(tally, open.worker) <
              static_cast<std::ptrdiff_t>(settings_.defences.lead_to_count))
        continue;
      job.polling = true;
      open.polled = true;
      open.asked.insert(admissions_.owner(open.worker));
      return ask_poll(job, vendor, open, pass);
    }
  }
}

// As many at once as would be enough if all of them agreed.
void Referee::ask_poll(Job& job, const std::string& vendor, Mismatch& mismatch, Pass& pass) {
  mismatch.waiting = static_cast<std::uint32_t>(
      std::max(settings_.defences.part_lead_to_count - mismatch.agreed, 1));
  job.parts_polled += mismatch.waiting;
  pass.out.emplace_back(PollWanted{.task = mismatch.task,
                                   .suspect = mismatch.worker,
                                   .root = mismatch.root,
                                   .part = *mismatch.finding.part,
                                   .vendor = vendor,
                                   .count = mismatch.waiting,
                                   .except = {mismatch.asked.begin(), mismatch.asked.end()}});
}

std::vector<Ruling> Referee::polled(const TaskId& task, const PublicKey& suspect,
                                    const PublicKey& worker, AuditOutcome outcome, UnixMillis now) {
  const auto found = jobs_.find(task.job);
  if (found == jobs_.end()) return {};
  Pass pass{.now = now, .todo = {}, .out = {}};
  now_ = now;
  Job& job = found->second;
  const auto& defences = settings_.defences;
  const auto vendor = job.vendors.find(admissions_.vendor(suspect));
  if (vendor == job.vendors.end()) return {};
  Tally& tally = vendor->second;
  const auto open = std::ranges::find_if(tally.open, [&](const Mismatch& each) {
    return each.worker == suspect && each.task == task && each.waiting > 0;
  });
  if (open == tally.open.end()) return {};
  --open->waiting;
  const Level its = level(worker, now);
  if (outcome == AuditOutcome::failed || its == Level::newcomer) {
    open->missing = true;
  } else if (open->asked.insert(admissions_.owner(worker)).second) {
    open->agreed += outcome == AuditOutcome::agrees ? 1 : -1;
  }
  const bool shown = open->agreed >= defences.part_lead_to_count;
  const bool conclusive =
      lead_of_right(tally, suspect) >= static_cast<std::ptrdiff_t>(defences.lead_to_convict);
  if (shown && (conclusive || !std::exchange(open->counted, true)))
    count_mismatch(task.job, Mismatch(*open), conclusive, pass);
  const bool over = shown || book_.suspended(suspect, now);
  if (open->agreed <= -defences.part_lead_to_drop) {
    tally.divided = true;
    for (const Mismatch& each : tally.open) {
      if (!each.counted) (void)stakes_.unlock(each.worker, risk_of(each.task));
    }
    tally.open.clear();
    job.polling = false;
  } else if (over || (open->waiting == 0 && open->missing)) {
    // Others are not there for the next poll either: it waits for the next result that is right.
    const bool next = !open->missing;
    open->waiting = 0;
    // One that is shown may convict yet, when the lead in the job has grown.
    if (!shown && !open->counted) (void)stakes_.unlock(suspect, risk_of(task));
    if (!shown || book_.suspended(suspect, now)) tally.open.erase(open);
    job.polling = false;
    if (next) poll(task.job, pass);
  } else if (open->waiting == 0) {
    ask_poll(job, vendor->first, *open, pass);
  }
  run(pass);
  return std::move(pass.out);
}

std::ptrdiff_t Referee::lead_of_right(const Tally& tally, const PublicKey& suspect) const {
  const PublicKey owner = admissions_.owner(suspect);
  const auto right =
      static_cast<std::ptrdiff_t>(tally.right.size()) - (tally.right.contains(owner) ? 1 : 0);
  const auto wrong =
      static_cast<std::ptrdiff_t>(tally.wrong.size()) + (tally.wrong.contains(owner) ? 0 : 1);
  return right - 2 * wrong;
}

// It was the worker that was wrong, not its device.
void Referee::count_mismatch(const JobId& id, const Mismatch& mismatch, bool conclusive,
                             Pass& pass) {
  const PublicKey& worker = mismatch.worker;
  const Job& job = jobs_.at(id);
  const bool is_new = !mismatch.counted || !std::ranges::contains(risks_[worker], mismatch.task);
  if (is_new) risks_[worker].push_back(mismatch.task);
  const auto known = evidence_.mismatch(worker, {.client = admissions_.owner(job.terms.client),
                                                 .task = mismatch.task,
                                                 .at = pass.now,
                                                 .penalty = is_new ? mismatch.penalty : 0});
  if (!conclusive && known.clients < settings_.defences.clients_to_convict) return;
  evidence_.forget_mismatches(worker);
  free_risks(worker);
  convict(mismatch.task, worker, known.penalty, job.value,
          conclusive ? "A result is wrong that many others of its vendor have right."
                     : "Results of jobs of several clients are wrong.",
          pass);
}

// What it may lose stays locked.
void Referee::restore_mismatch(const PublicKey& worker, const Evidence::Mismatch& mismatch) {
  evidence_.restore(worker, mismatch);
  risks_[worker].push_back(mismatch.task);
  (void)stakes_.lock(worker, risk_of(mismatch.task), mismatch.penalty,
                     std::numeric_limits<MicroCredits>::max() / 2);
}

void Referee::forget_old_mismatches(UnixMillis now) {
  for (const PublicKey& worker : evidence_.forget_old_mismatches(now)) free_risks(worker);
}

void Referee::free_risks(const PublicKey& worker) {
  const auto risks = risks_.extract(worker);
  if (risks.empty()) return;
  for (const TaskId& task : risks.mapped()) (void)stakes_.unlock(worker, risk_of(task));
}

void Referee::ask(const TaskId& task, Stage stage, const Ballot& ballot, Pass& pass) {
  Case& open = *case_of(task);
  leave_hold(task, open);
  open.stage = stage;
  trust_.set_ballot(task, ballot);
  pass.add(trust_.reconsider(task));
}

// Results of one task differ. Where one of them has the word of those who decide, it is right;
// otherwise a root says which, and where there is no root, trusted workers compute it again.
void Referee::dispute(const TaskId& task, Pass& pass) {
  if (trusts_heads() || jobs_.at(task.job).terms.by_heads())
    return ask(task, Stage::disputed, {.quorum = 1, .lead = lead()}, pass);
  const std::vector<Trust::Group> groups = trust_.groups(task);
  if (groups.empty()) return;
  Case& open = case_for(task, groups.front().workers.front());
  std::vector<const Trust::Group*> believed;
  for (const Trust::Group& group : groups) {
    if (open.rootless ? decides(group.workers, pass.now) : settles(group.workers, pass.now))
      believed.push_back(&group);
  }
  const bool accused = open.accuser.has_value();
  if (believed.size() == 1 && groups.size() > 1) return release(task, pass, believed.front()->root);
  if (believed.empty() && !open.rootless && (groups.size() > 1 || accused)) {
    trust_.set_ballot(task, {.quorum = 2, .lead = 2});
    const Trust::Group& first = groups.front();
    const std::uint32_t part = open.part;
    const std::uint32_t samples = open.samples;
    sample(task, first.root, first.workers.front(), pass);
    // Only a root can tell: of the same part as the accuser, or an honest one would seem to lie.
    auto& wanted = std::get<AuditWanted>(pass.out.back());
    wanted.dispute = true;
    if (accused && groups.size() == 1) {
      wanted.part = part;
      wanted.samples = samples > 1 ? wanted.parts : 1;
    }
    return;
  }
  ask(task, Stage::disputed, {.quorum = 1, .lead = lead()}, pass);
}

void Referee::hold(const TaskId& task, Pass& pass) {
  Case& open = *case_of(task);
  open.stage = Stage::held;
  (void)stakes_.unlock(
      open.worker, task);  // Nothing more is drawn for it; its pay is what it still has to lose.
  ++jobs_.at(task.job).held;
  auto& held = holds_[open.worker];
  held.push_back(task);
  if (held.size() > settings_.hold_max) release(TaskId(held.front()), pass);
  release_if_last(task.job, pass);
}

void Referee::release(const TaskId& task, Pass& pass, std::optional<Hash> winner) {
  if (!winner) {
    if (const Case* open = case_of(task); open != nullptr) winner = open->root;
  }
  trust_.set_ballot(task, {.quorum = 1, .lead = 1, .winner = winner});
  pass.add(trust_.reconsider(task));
}

void Referee::release_if_last(const JobId& id, Pass& pass) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end() || job->second.held == 0 ||
      trust_.accepted_count(id) + job->second.held != job->second.tasks)
    return;
  for (const auto& [index, open] : job->second.cases) {
    if (open.stage == Stage::held) release({.job = id, .index = index}, pass);
  }
}

// Something about a result that is held back is looked at again.
void Referee::leave_hold(const TaskId& task, const Case& open) {
  if (open.stage != Stage::held) return;
  unhold(task, open);
  --jobs_.at(task.job).held;
}

void Referee::unhold(const TaskId& task, const Case& held) {
  const auto of_worker = holds_.find(held.worker);
  if (of_worker == holds_.end()) return;
  std::erase(of_worker->second, task);
  if (of_worker->second.empty()) holds_.erase(of_worker);
}

void Referee::convict(const TaskId& task, const PublicKey& worker, MicroCredits value,
                      std::string reason, Pass& pass) {
  MicroCredits penalty = stakes_.unlock(worker, task);
  if (penalty == 0) {
    // Not its task alone (a juror, an auditor, a trap): as if it had been.
    const auto job = jobs_.find(task.job);
    const JobTerms any{
        .replicas = 2, .audit = 0, .parts = settings_.checks.audit_parts_max, .agree = {}};
    penalty =
        stake_for(value, rates(worker, job == jobs_.end() ? any : job->second.terms, pass.now),
                  settings_.checks.collusion);
  }
  convict(task, worker, penalty, value, std::move(reason), pass);
}

std::vector<Ruling> Referee::convicted(const TaskId& what, const PublicKey& worker,
                                       MicroCredits penalty, MicroCredits value, std::string reason,
                                       UnixMillis now) {
  Pass pass{.now = now, .todo = {}, .out = {}};
  convict(what, worker, penalty, value, std::move(reason), pass);
  run(pass);
  return std::move(pass.out);
}

void Referee::convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty,
                      MicroCredits value, std::string reason, Pass& pass) {
  book_.convict(worker, pass.now);
  pass.out.emplace_back(Convicted{.task = task,
                                  .worker = worker,
                                  .penalty = penalty,
                                  .value = value,
                                  .reason = std::move(reason)});
  evidence_.forget_mismatches(worker);
  recheck_held(worker, pass);
}

void Referee::recheck_held(const PublicKey& worker, Pass& pass) {
  const auto held = holds_.extract(worker);
  if (held.empty()) return;
  for (const TaskId& each : held.mapped()) {
    ask(each, Stage::replicated, {.quorum = 2, .lead = 2}, pass);
  }
}

}  // namespace weft::trust
