#include "decisions/trust/referee.h"

#include <utility>

namespace weft::trust {

void Referee::add_job(const JobId& id, JobTerms terms, std::uint32_t tasks) {
  Policy policy{.replicas = terms.replicas, .agree = terms.agree};
  if (!tables_.standing.trusts_heads() && !terms.by_heads())
    policy.decides = [this](std::span<const PublicKey> workers) {
      return tables_.standing.settles(workers, tables_.now);
    };
  tables_.votes.add_job(id, std::move(policy), tasks);
  tables_.cases.add_job(id, std::move(terms), tasks);
}

void Referee::set_value(const JobId& id, MicroCredits value) {
  if (JobCases* job = tables_.cases.find(id); job != nullptr && value > 0) job->value = value;
}

Result<std::vector<Ruling>> Referee::restored(const JobId& id, MicroCredits value,
                                              const StakeOf& stake, ByteSpan faults,
                                              UnixMillis now) {
  RefereePass pass = tables_.begin(now);
  lifetimes_.restore(id, value, stake, pass);
  if (!faults.empty()) WEFT_OK(fault_.restore(id, faults, pass));
  pass.add(tables_.votes.restored(id));
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::leased(const TaskId& task, const PublicKey& worker, MicroCredits value,
                                    MicroCredits stake, UnixMillis now, StepRoots roots) {
  RefereePass pass = tables_.begin(now);
  lifetimes_.begin(task, worker, value, stake, roots, pass);
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::add_result(const Replica& replica, UnixMillis now) {
  RefereePass pass = tables_.begin(now);
  pass.add(tables_.votes.add_result(replica));
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::add_receipt(const PublicKey& worker, std::span<const Claim> claims,
                                         UnixMillis now) {
  RefereePass pass = tables_.begin(now);
  pass.add(tables_.votes.add_receipt(worker, claims));
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::give_up(const TaskId& task, UnixMillis now) {
  RefereePass pass = tables_.begin(now);
  pass.add(tables_.votes.give_up(task, tables_.settings.lead_min));
  return decisions_.run(std::move(pass));
}

bool Referee::audit_wanted(const TaskId& task) const {
  const TaskCase* open = tables_.cases.case_of(task);
  return open != nullptr && open->stage == Stage::auditing;
}

std::vector<Ruling> Referee::audited(const TaskId& task, const PublicKey& auditor,
                                     AuditOutcome outcome, UnixMillis now, Auditor who,
                                     const Finding& finding) {
  if (!audit_wanted(task)) return {};
  RefereePass pass = tables_.begin(now);
  outcomes_.audited(task, auditor, outcome, who, finding, pass);
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::unanswered(const TaskId& task, const PublicKey& suspect,
                                        UnixMillis now) {
  const TaskCase* open = tables_.cases.case_of(task);
  if (!audit_wanted(task) || open->suspect != suspect) return {};
  RefereePass pass = tables_.begin(now);
  outcomes_.unanswered(task, pass);
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::polled(const TaskId& task, const PublicKey& suspect,
                                    const PublicKey& worker, AuditOutcome outcome, UnixMillis now) {
  if (tables_.cases.find(task.job) == nullptr) return {};
  RefereePass pass = tables_.begin(now);
  fault_.polled(task, suspect, worker, outcome, pass);
  return decisions_.run(std::move(pass));
}

std::optional<Trap> Referee::trap_for(const TaskId& task, const PublicKey& worker, UnixMillis now) {
  if (!book().established(worker, now) ||
      draw(tables_.secret, Purpose::trap, task, worker) >= tables_.settings.checks.trap_floor)
    return {};
  return tables_.traps.take(worker, draw_bits(tables_.secret, Purpose::trap_choice, task, worker));
}

std::vector<Ruling> Referee::trap_answered(const Trap& trap, const PublicKey& worker, bool right,
                                           UnixMillis now) {
  RefereePass pass = tables_.begin(now);
  if (right) {
    tables_.standing.book().confirm(worker, 1, now);
    return {};
  }
  if (!trap.client) {
    convictions_.convict(trap.task, worker, trap.value,
                         "The worker's answer to a task with a known answer is wrong.", pass);
    return decisions_.run(std::move(pass));
  }
  // The right answer of a client's job may differ by device, so that one wrong answer does not
  // convict the worker.
  Standing& standing = tables_.standing;
  const Defences& defences = tables_.settings.defences;
  if (defences.same_vendor_confirms && !standing.operator_has_device_of(worker, trap.by, now))
    return {};
  if (!fault_.seen_twice({.worker = worker}, trap.by, now)) return {};
  const auto known =
      standing.evidence().mismatch(worker, {.client = standing.admissions().owner(*trap.client),
                                            .task = trap.task,
                                            .at = now,
                                            .penalty = tables_.stakes.at_risk(trap.value, {})});
  if (known.clients < defences.clients_to_convict) return {};
  convictions_.convict(trap.task, worker, known.penalty, trap.value,
                       "The worker's results of jobs of several clients are wrong.", pass);
  return decisions_.run(std::move(pass));
}

std::vector<Ruling> Referee::convicted(const TaskId& what, const PublicKey& worker,
                                       MicroCredits penalty, MicroCredits value, std::string reason,
                                       UnixMillis now) {
  RefereePass pass = tables_.begin(now);
  convictions_.convict(what, worker, penalty, value, std::move(reason), pass);
  return decisions_.run(std::move(pass));
}

}  // namespace weft::trust
