// Audits, traps, convictions: what the referee wants done besides the scheduler's leases, and what
// came of it.
#include <algorithm>
#include <array>

#include "common/base/log.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/core_state.h"
#include "decisions/jobs/lease_proof.h"
#include "decisions/trust/audit.h"

namespace weft::jobs {

std::vector<protocol::ChunkName> chunks_to_open(const manifest::Manifest& manifest,
                                                std::uint32_t index, manifest::Range range) {
  const auto whole = manifest::task_range(manifest, index);
  std::vector<protocol::ChunkName> all;
  for (std::uint32_t output = 0; output < manifest.output_bytes().size(); ++output) {
    const auto of_task = manifest::output_extent(manifest, output, whole);
    const auto wanted = manifest::output_extent(manifest, output, range);
    if (wanted.size == 0) continue;
    const std::uint64_t first = (wanted.offset - of_task.offset) / proof::chunk_bytes;
    const std::uint64_t last =
        (wanted.offset - of_task.offset + wanted.size - 1) / proof::chunk_bytes;
    for (std::uint64_t chunk = first; chunk <= last; ++chunk)
      all.push_back({.output = output, .chunk = chunk});
  }
  if (all.size() <= protocol::opened_chunks_max) return all;
  std::vector<protocol::ChunkName> spread;
  for (std::size_t i = 0; i < protocol::opened_chunks_max; ++i)
    spread.push_back(all[i * all.size() / protocol::opened_chunks_max]);
  return spread;
}

manifest::Range audited_range(const trust::AuditWanted& wanted, manifest::Range whole) {
  const trust::Part all{.first = whole.first, .count = whole.count};
  const std::uint32_t count =
      wanted.rivals.empty() ? std::min(wanted.samples, wanted.parts) : wanted.parts;
  const std::uint32_t first = std::min(wanted.part, wanted.parts - count);
  const auto from = trust::part_of(all, wanted.parts, first);
  const auto to = trust::part_of(all, wanted.parts, first + count - 1);
  return {.first = from.first, .count = to.first + to.count - from.first};
}

namespace {

std::optional<trust::Part> part_of(const std::optional<manifest::Range>& range) {
  if (!range) return {};
  return trust::Part{.first = range->first, .count = range->count};
}

scheduler::SampleQueue::Outcome sample_outcome(trust::AuditOutcome outcome) {
  return outcome == trust::AuditOutcome::failed ? scheduler::SampleQueue::Outcome::failed
                                                : scheduler::SampleQueue::Outcome::checked;
}

// What the coordinator's verifier says of a result besides the outcome.
std::string basis_of(const Checked& checked) {
  if (checked.outcome != trust::AuditOutcome::differs) return checked.reason;
  switch (checked.devices) {
    case trust::Devices::one:
      break;
    case trust::Devices::two:
      return "Two devices of the coordinator's machine computed the same.";
    case trust::Devices::divided:
      return "Two devices of the coordinator's machine computed different things, so that it is "
             "refused and counts against no worker.";
  }
  return "One device of the coordinator's machine computed it.";
}

}  // namespace

MicroCredits Core::State::replica_value(const RunningJob& job) const {
  const auto progress = scheduler.progress(job.row.id);
  if (!progress || !progress->estimate) return 0;
  return scheduler::task_price(*progress->estimate, job.row.tasks) / job.manifest->verify.replicas;
}

void Core::State::tell_leased(const JobId& id, const PublicKey& worker,
                              std::span<const protocol::LeasedTask> tasks, Moment now) {
  for (const auto& task : tasks) {
    const auto job = jobs.find(id);  // Rulings may end it.
    if (job == jobs.end() || !job->second.refereed) return;
    const TaskId name{.job = id, .index = task.index};
    act(trust.leased(name, worker, replica_value(job->second), free_of_answers(worker), now.unix),
        now);
    if (const auto trap = trust.trap_for(name, worker, now.unix)) lease_trap(worker, *trap, now);
  }
}

// --- Audits
// ------------------------------------------------------------------------------------------------------------

void Core::State::start_audit(const trust::AuditWanted& wanted, Moment now) {
  const auto job = jobs.find(wanted.task.job);
  if (job == jobs.end()) return;
  const auto whole = manifest::task_range(*job->second.manifest, wanted.task.index);
  const auto part =
      trust::part_of({.first = whole.first, .count = whole.count}, wanted.parts, wanted.part);
  Audit audit{.wanted = wanted,
              .range = {.first = part.first, .count = part.count},
              .share = static_cast<double>(part.count) / whole.count,
              .chunks = {},
              .opening = {},
              .asked = {},
              .auditor = {},
              .answer = {},
              .deadline = now.at,
              .begun = now.at};
  audit.opens =
      !wanted.trusted_only || (!wanted.dispute && !wanted.by_root &&
                               trust.level(wanted.suspect, now.unix) != trust::Level::newcomer &&
                               workers.contains(wanted.suspect) && !verifier_has_room());
  ++counters.audits;
  if (!audit.opens) {
    audit.range = audited_range(wanted, whole);
    audit.share = static_cast<double>(audit.range.count) / whole.count;
    const auto place = audits.open.insert_or_assign(wanted.task, std::move(audit)).first;
    if (parts.world.verifies()) {
      verify(place->second);
      return note_sample(place->second, now);
    }
    if (wanted.by_root) return audit_ends(wanted.task, trust::AuditOutcome::failed, now);
    return lease_audit(place->second, now);
  }
  audit.chunks = chunks_to_open(*job->second.manifest, wanted.task.index, audit.range);
  send(wanted.suspect, protocol::OpenChunks{
                           .task = wanted.task, .attempt = wanted.attempt, .chunks = audit.chunks});
  const auto place = audits.open.insert_or_assign(wanted.task, std::move(audit)).first;
  lease_audit(place->second, now);
}

void Core::State::verify(Audit& audit) {
  const TaskId& task = audit.wanted.task;
  const auto job = jobs.find(task.job);
  if (job == jobs.end()) return;
  const auto& delivered = job->second.delivered[task.index];
  const auto suspected = delivered.find(audit.wanted.suspect);
  if (suspected == delivered.end()) return;
  audit.verifying = true;
  audit.of_newcomer = trust.level(audit.wanted.suspect, unix_now) == trust::Level::newcomer;
  audit.tried_verifier = true;
  const auto whole = manifest::task_range(*job->second.manifest, task.index);
  VerifyOrder order{.task = task,
                    .manifest = job->second.manifest,
                    .root = audit.wanted.root,
                    .outputs = blobs_of(suspected->second.result),
                    .ranges = {},
                    .client = job->second.row.client,
                    .first = audit.of_newcomer,
                    .rivals = {},
                    .parts = audit.wanted.parts};
  if (order.first) {
    // One network shares one share of the verifier's time; a worker of our own network is itself
    // one.
    const auto worker = workers.find(audit.wanted.suspect);
    order.group = worker == workers.end() || worker->second.prefix.empty()
                      ? audit.wanted.suspect.text()
                      : worker->second.prefix;
  }
  if (audit.wanted.samples >= audit.wanted.parts) {
    order.ranges.push_back(whole);
  } else {
    // Drawn one by one, since the result is there.
    std::set<std::uint32_t> drawn{audit.wanted.part};
    for (std::uint64_t number = 1000; drawn.size() < audit.wanted.samples; ++number) {
      drawn.insert(static_cast<std::uint32_t>(trust::draw_below(audit.wanted.parts, settings.secret,
                                                                trust::Purpose::audit_part, task,
                                                                audit.wanted.suspect, number)));
    }
    for (const std::uint32_t number : drawn) {
      const auto part =
          trust::part_of({.first = whole.first, .count = whole.count}, audit.wanted.parts, number);
      order.ranges.push_back({.first = part.first, .count = part.count});
    }
  }
  audit.drawn = order.ranges;
  audit.rivals.clear();
  for (const Hash& rival : audit.wanted.rivals) {
    const auto other = std::ranges::find_if(
        delivered, [&](const auto& each) { return each.second.result.root == rival; });
    if (other == delivered.end()) continue;
    order.rivals.push_back(blobs_of(other->second.result));
    audit.rivals.push_back(rival);
  }
  effect([this, order = std::move(order)] { parts.world.verify(order); });
}

// Established workers audit each other only where the verifier has enough to do for them: its word
// cannot be an accomplice's. What waits of newcomers takes no more than half of its time.
bool Core::State::verifier_has_room() const {
  constexpr std::size_t room = 64;
  if (!parts.world.verifies()) return false;
  std::size_t waiting = 0;
  for (const auto& [task, audit] : audits.open) {
    if (audit.verifying && !audit.of_newcomer && ++waiting >= room) return false;
  }
  return true;
}

// Newcomers' tasks are given out by how long checks take.
void Core::State::note_sample(const Audit& audit, Moment now) {
  if (!audit.wanted.trusted_only || audit.opens) return;
  const PublicKey& worker = audit.wanted.suspect;
  if (trust.level(worker, now.unix) != trust::Level::newcomer) return;
  if (!audit.verifying && !audit.auditor) return scheduler.sample_stalls(audit.wanted.task, worker);
  const double share =
      audit.verifying ? static_cast<double>(std::min(audit.wanted.samples, audit.wanted.parts)) /
                            audit.wanted.parts
                      : audit.share;
  scheduler.sample_begins(audit.wanted.task, worker, share, now.at);
}

Core::State::Samples Core::State::samples() const {
  Samples out;
  for (const auto& [task, audit] : audits.open) {
    if (!audit.wanted.trusted_only || audit.opens) continue;
    ++out.waiting;
    out.oldest = std::max(out.oldest, at_now - audit.begun);
  }
  return out;
}

// Said again every ten minutes for as long as it is so.
void Core::State::warn_of_lag(Moment now) {
  if (audits.open.empty() || now.at < samples_looked + std::chrono::minutes(1)) return;
  samples_looked = now.at;
  const Samples found = samples();
  if (found.oldest < sample_lag_max || now.at < samples_warned + sample_lag_max) return;
  samples_warned = now.at;
  ++counters.lags;
  log_warning(
      "{} results wait to be checked, the oldest for {} minutes: add a verifier (`weft invite "
      "--verifier`, then `weft work --invite CODE` on another machine).",
      found.waiting, std::chrono::duration_cast<std::chrono::minutes>(found.oldest).count());
}

void Core::State::lease_waiting_audits(Moment now) {
  for (auto& [task, audit] : audits.open) {
    if (!audit.auditor && !audit.verifying && audit.wanted.trusted_only && !audit.opens)
      lease_audit(audit, now);
  }
}

void Core::verified(const TaskId& task, const Hash& root, const Checked& checked, Moment now) {
  State& state = *state_;
  const trust::AuditOutcome outcome = checked.outcome;
  const auto audit = state.audits.open.find(task);
  if (audit == state.audits.open.end() || !audit->second.verifying ||
      audit->second.wanted.root != root)
    return;
  audit->second.verifying = false;
  state.scheduler.sample_ends(task, audit->second.wanted.suspect, sample_outcome(outcome), now.at);
  const bool dispute = !audit->second.wanted.rivals.empty();
  if (!checked.late || audit->second.late.tries() == 0)
    state.note_check({.task = task,
                      .time = now.unix,
                      .worker = audit->second.wanted.suspect,
                      .root = root,
                      .by = {},
                      .kind = dispute ? store::Check::Kind::dispute : store::Check::Kind::sample,
                      .outcome = outcome_of(outcome),
                      .ranges = ranges_of(audit->second.drawn),
                      .wrong = range_of(checked.wrong),
                      .reason = basis_of(checked)});
  if (checked.unsteady) {
    state.audits.open.erase(audit);
    return state.end_irreproducible(task.job, checked.reason, now);
  }
  if (outcome == trust::AuditOutcome::failed) return state.not_checked(audit->second, checked, now);
  if (outcome == trust::AuditOutcome::differs) {
    ++state.counters.audits_differ;
    log_warning("The verifier finds a wrong part in what {} handed in for {}.",
                audit->second.wanted.suspect.text(), task.text());
  }
  if (const auto job = state.jobs.find(task.job);
      job != state.jobs.end() && outcome == trust::AuditOutcome::agrees)
    job->second.verified.insert(task.index);
  trust::Finding finding{.devices = checked.devices,
                         .vendor = checked.vendor,
                         .part = part_of(checked.wrong),
                         .rivals = {}};
  const std::vector<Hash>& rivals = audit->second.rivals;
  for (std::size_t i = 0; i < std::min(rivals.size(), checked.apart.size()); ++i)
    finding.rivals.emplace_back(rivals[i], *part_of(checked.apart[i]));
  state.audits.open.erase(audit);
  state.act(state.trust.audited(task, {}, outcome, now.unix, trust::Auditor::coordinator, finding),
            now);
}

void Core::State::measure_canary(const JobId& id) {
  const auto job = jobs.find(id);
  if (job == jobs.end() || !parts.world.verifies()) return;
  const auto whole = manifest::task_range(*job->second.manifest, 0);
  // A thirty-second of a task, as little as it may be.
  const std::uint32_t count =
      manifest::can_cut(*job->second.manifest) ? std::max(whole.count / 32, 1U) : whole.count;
  effect([this, order = MeasureOrder{.job = id,
                                     .manifest = job->second.manifest,
                                     .range = {.first = whole.first, .count = count},
                                     .client = job->second.row.client}] {
    parts.world.measure(order);
  });
}

void Core::measured(const JobId& job, const Result<scheduler::Measurement>& measurement,
                    Moment now) {
  if (!measurement) return state_->not_measured(job, measurement.error(), now);
  state_->audits.canaries.erase(job);
  state_->scheduler.canary_measured(job, *measurement, now.at);
}

void Core::State::lease_audit(Audit& audit, Moment now) {
  const TaskId& task = audit.wanted.task;
  const auto job = jobs.find(task.job);
  if (job == jobs.end()) return;
  audit.deadline = now.at + settings.scheduler.wall_max + settings.scheduler.grace;
  audit.auditor.reset();
  audit.answer = {};
  std::vector<PublicKey> candidates = scheduler.able(task.job);
  const auto delivered = job->second.delivered.find(task.index);
  std::erase_if(candidates, [&](const PublicKey& key) {
    if (audit.wanted.trusted_only) {
      // Tabs never verify for others; what newcomers say decides nothing.
      const auto level = trust.level(key, now.unix);
      const auto connected = workers.find(key);
      if (level == trust::Level::newcomer ||
          (audit.wanted.dispute && level != trust::Level::root) || connected == workers.end() ||
          connected->second.hello.kind != protocol::WorkerKind::native)
        return true;
      // Two wallets of one owner are one opinion: neither checks the other, nor do both second a
      // third. A root's word counts alone.
      const auto is_same_owner = [&, owner = owner_of(key)](const PublicKey& other) {
        return owner_of(other) == owner;
      };
      if (level != trust::Level::root && (is_same_owner(audit.wanted.suspect) ||
                                          std::ranges::any_of(audit.wanted.except, is_same_owner)))
        return true;
    }
    return key == audit.wanted.suspect || audit.asked.contains(key) ||
           trust.book().suspended(key, now.unix) ||
           (delivered != job->second.delivered.end() && delivered->second.contains(key)) ||
           job->second.leased[task.index].contains(key);
  });
  if (candidates.empty() && audit.opens && audit.wanted.trusted_only && audit.asked.empty() &&
      parts.world.verifies())
    return verify(audit);
  if (candidates.empty()) {  // A worker may join until the deadline.
    if (audit.late.waits()) audit.deadline = audit.late.next();
    return note_sample(audit, now);
  }
  const auto choice = trust::draw_below(candidates.size(), settings.secret, trust::Purpose::auditor,
                                        task, audit.wanted.suspect, audit.asked.size());
  audit.auditor = candidates[choice];
  audit.asked.insert(*audit.auditor);
  lease_extra(*audit.auditor, task, audit.range);
  note_sample(audit, now);
}

void Core::State::lease_extra(const PublicKey& worker, const TaskId& task, manifest::Range range) {
  const auto job = jobs.find(task.job);
  if (job == jobs.end()) return;
  const auto terms = scheduler.terms(task.job, worker);
  send(worker, protocol::Lease{.job = task.job,
                               .manifest = job->second.row.manifest_hash,
                               .piece_workgroups_max = terms.piece_workgroups_max,
                               .wall_ms_max = terms.wall_ms_max,
                               .tasks = {{.index = task.index,
                                          .attempt = extra_attempt,
                                          .first = range.first,
                                          .count = range.count,
                                          .proof = lease_proof(settings.secret, LeaseKind::extra,
                                                               task, extra_attempt, worker)}}});
}

// Another worker, or, where enough were asked, a second replica.
void Core::State::audit_again(const TaskId& task, Moment now) {
  const auto audit = audits.open.find(task);
  if (audit == audits.open.end() || audit->second.inspecting || audit->second.verifying) return;
  if (!audit->second.opens) {
    // It waits until a worker is there that can tell. Where results differ, others compute it
    // again.
    if (audit->second.wanted.dispute && audit->second.asked.empty())
      return audit_ends(task, trust::AuditOutcome::failed, now);
    if (audit->second.asked.size() >= auditors_max) audit->second.asked.clear();
    lease_audit(audit->second, now);
    if (audit->second.auditor || audit->second.asked.empty()) return;
    // No other worker is left: those that were asked are asked once more.
    audit->second.asked.clear();
    return lease_audit(audit->second, now);
  }
  if (audit->second.asked.size() >= auditors_max || !audit->second.opening)
    return audit_ends(task, trust::AuditOutcome::failed, now);
  lease_audit(audit->second, now);
  if (!audit->second.auditor) audit_ends(task, trust::AuditOutcome::failed, now);
}

void Core::State::audit_ends(const TaskId& task, trust::AuditOutcome outcome, Moment now) {
  auto node = audits.open.extract(task);
  if (node.empty()) return;
  const Audit& audit = node.mapped();
  scheduler.sample_ends(task, audit.wanted.suspect, sample_outcome(outcome), now.at);
  const PublicKey auditor = audit.auditor.value_or(PublicKey{});
  if (audit.auditor && jobs.contains(task.job))
    note_check({.task = task,
                .time = now.unix,
                .worker = audit.wanted.suspect,
                .root = audit.wanted.root,
                .by = auditor,
                .kind = audit.opens ? store::Check::Kind::audit : store::Check::Kind::sample,
                .outcome = outcome_of(outcome),
                .ranges = ranges_of(std::array{audit.range}),
                .wrong = {},
                .reason = {}});
  if (audit.auditor) {
    if (audit.answer.agree()) {
      const auto job = jobs.find(task.job);
      // Told and paid when the task is accepted.
      if (job != jobs.end()) {
        auto& auditors = job->second.auditors[task.index];
        std::erase_if(auditors, [&](const auto& each) { return each.worker == auditor; });
        auditors.push_back({.worker = auditor,
                            .share = audit.share,
                            .accuser = outcome == trust::AuditOutcome::differs});
      }
    } else {
      send(auditor, protocol::Cancel{.tasks = {{.task = task, .attempt = extra_attempt}},
                                     .reason = "The audit is over."});
    }
  }
  if (outcome == trust::AuditOutcome::differs) {
    ++counters.audits_differ;
    log_warning("An audit of {} by {} differs from what {} handed in.", task.text(), auditor.text(),
                audit.wanted.suspect.text());
  }
  act(trust.audited(task, auditor, outcome, now.unix, trust::Auditor::worker,
                    {.devices = trust::Devices::one,
                     .vendor = {},
                     .part = part_of(audit.range),
                     .rivals = {}}),
      now);
}

void Core::State::inspect_if_complete(Audit& audit) {
  if (audit.inspecting || (audit.opens && !audit.opening) || !audit.answer.agree()) return;
  const TaskId& task = audit.wanted.task;
  const auto job = jobs.find(task.job);
  if (job == jobs.end()) return;
  const auto& delivered = job->second.delivered[task.index];
  const auto suspected = delivered.find(audit.wanted.suspect);
  if (suspected == delivered.end()) return;
  audit.inspecting = true;
  AuditOrder order{.task = task,
                   .manifest = job->second.manifest,
                   .range = audit.range,
                   .root = audit.wanted.root,
                   .chunks = audit.chunks,
                   .opening = audit.opening.value_or(protocol::Opening{}),
                   .suspected = blobs_of(suspected->second.result),
                   .opened = audit.opens,
                   .auditor = *audit.auditor,
                   .audited = blobs_of(*audit.answer.result)};
  effect([this, order = std::move(order)] { parts.world.inspect(order); });
}

void Core::opened(SessionId session, protocol::Opening opening, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  const auto audit = state.audits.open.find(opening.task);
  if (audit == state.audits.open.end() || audit->second.wanted.suspect != key ||
      audit->second.wanted.attempt != opening.attempt)
    return;
  if (opening.roots.empty())
    return state.audit_ends(opening.task, trust::AuditOutcome::failed,
                            now);  // It does not have it any more.
  if (!audit->second.opening) audit->second.opening = std::move(opening);
  state.inspect_if_complete(audit->second);
}

void Core::inspected(const TaskId& task, const PublicKey& auditor, trust::AuditOutcome outcome,
                     Moment now) {
  if (const auto poll = state_->audits.polls.find({auditor, task});
      poll != state_->audits.polls.end() && poll->second.inspecting)
    return state_->poll_ends(auditor, task, outcome, now);
  const auto audit = state_->audits.open.find(task);
  if (audit == state_->audits.open.end() || audit->second.auditor != auditor ||
      !audit->second.inspecting)
    return;
  state_->audit_ends(task, outcome, now);
}

// --- Traps
// -------------------------------------------------------------------------------------------------------------

void Core::State::lease_trap(const PublicKey& worker, const trust::Trap& trap, Moment now) {
  const auto job = jobs.find(trap.task.job);
  // Only of jobs that run, and whose right answer is one.
  if (job == jobs.end() || !job->second.manifest->verify.compare.exact) return;
  ++counters.traps;
  audits.traps.insert_or_assign(
      {worker, trap.task},
      TrapLease{.trap = trap,
                .answer = {},
                .deadline = now.at + settings.scheduler.wall_max + settings.scheduler.grace});
  lease_extra(worker, trap.task, manifest::task_range(*job->second.manifest, trap.task.index));
}

void Core::State::spring_if_complete(const PublicKey& worker, const TaskId& task, Moment now) {
  const auto found = audits.traps.find({worker, task});
  if (found == audits.traps.end() || !found->second.answer.complete()) return;
  const TrapLease lease = std::move(found->second);
  audits.traps.erase(found);
  const bool right = lease.answer.agree() && lease.answer.result->root == lease.trap.root;
  // Nothing says that it was one.
  verdict(task, extra_attempt, worker,
          right ? std::optional<MicroCredits>(
                      pay_for_checking(task, worker, lease.trap.value, "trap", now))
                : std::nullopt,
          right ? "" : "The result differs from the accepted one.");
  act(trust.trap_answered(lease.trap, worker, right, now.unix), now);
}

// --- What comes in for either
// ------------------------------------------------------------------------------------------

bool Core::State::extra_result(const PublicKey& worker, const protocol::TaskResult& result,
                               Moment now) {
  if (result.attempt != extra_attempt) return false;
  if (const auto audit = audits.open.find(result.task);
      audit != audits.open.end() && audit->second.auditor == worker) {
    if (audit->second.inspecting) return true;
    audit->second.answer.result = result;
    if (audit->second.answer.complete() && !audit->second.answer.agree()) {
      audit_again(result.task, now);
    } else {
      inspect_if_complete(audit->second);
    }
    return true;
  }
  if (const auto poll = audits.polls.find({worker, result.task}); poll != audits.polls.end()) {
    if (poll->second.inspecting) return true;
    poll->second.answer.result = result;
    inspect_poll(worker, result.task, now);
    return true;
  }
  const auto trap = audits.traps.find({worker, result.task});
  if (trap == audits.traps.end()) return false;
  trap->second.answer.result = result;
  spring_if_complete(worker, result.task, now);
  return true;
}

void Core::State::extra_claim(const PublicKey& worker, const protocol::ReceiptItem& item,
                              Moment now) {
  if (item.attempt != extra_attempt) return;
  if (const auto audit = audits.open.find(item.task);
      audit != audits.open.end() && audit->second.auditor == worker) {
    if (audit->second.inspecting) return;
    audit->second.answer.claimed = item.root;
    if (audit->second.answer.complete() && !audit->second.answer.agree())
      return audit_again(item.task, now);
    return inspect_if_complete(audit->second);
  }
  if (const auto poll = audits.polls.find({worker, item.task}); poll != audits.polls.end()) {
    if (poll->second.inspecting) return;
    poll->second.answer.claimed = item.root;
    return inspect_poll(worker, item.task, now);
  }
  if (const auto trap = audits.traps.find({worker, item.task}); trap != audits.traps.end()) {
    trap->second.answer.claimed = item.root;
    spring_if_complete(worker, item.task, now);
  }
}

bool Core::State::extra_failed(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                               Moment now) {
  if (attempt != extra_attempt) return false;
  if (const auto audit = audits.open.find(task);
      audit != audits.open.end() && audit->second.auditor == worker && !audit->second.inspecting) {
    audit_again(task, now);
    return true;
  }
  if (audits.polls.contains({worker, task})) {
    poll_ends(worker, task, trust::AuditOutcome::failed, now);
    return true;
  }
  return audits.traps.erase({worker, task}) > 0;
}

void Core::State::extras_of_gone(const PublicKey& worker, Moment now) {
  std::erase_if(audits.traps, [&](const auto& each) { return each.first.first == worker; });
  std::vector<TaskId> polled;
  for (const auto& [name, poll] : audits.polls) {
    if (name.first == worker && !poll.inspecting) polled.push_back(name.second);
  }
  for (const TaskId& task : polled) poll_ends(worker, task, trust::AuditOutcome::failed, now);
  std::vector<TaskId> tasks;
  for (const auto& [task, audit] : audits.open) {
    if (audit.auditor == worker && !audit.inspecting) tasks.push_back(task);
  }
  for (const TaskId& task : tasks) {
    if (const auto audit = audits.open.find(task); audit != audits.open.end())
      lease_audit(audit->second, now);
  }
}

void Core::State::extras_of_ended(const JobId& job) {
  audits.canaries.erase(job);
  std::erase_if(audits.traps, [&](const auto& each) { return each.first.second.job == job; });
  std::erase_if(audits.polls, [&](const auto& each) {
    if (each.first.second.job != job) return false;
    send(each.first.first,
         protocol::Cancel{.tasks = {{.task = each.first.second, .attempt = extra_attempt}},
                          .reason = "The job has ended."});
    return true;
  });
  for (auto audit = audits.open.begin(); audit != audits.open.end();) {
    if (audit->first.job != job) {
      ++audit;
      continue;
    }
    if (audit->second.auditor) {
      send(*audit->second.auditor,
           protocol::Cancel{.tasks = {{.task = audit->first, .attempt = extra_attempt}},
                            .reason = "The job has ended."});
    }
    audit = audits.open.erase(audit);
  }
}

void Core::State::expire_extras(Moment now) {
  std::erase_if(audits.traps, [&](const auto& each) { return each.second.deadline <= now.at; });
  std::vector<std::pair<PublicKey, TaskId>> unanswered;
  for (const auto& [name, poll] : audits.polls) {
    if (!poll.inspecting && poll.deadline <= now.at) unanswered.push_back(name);
  }
  for (const auto& [worker, task] : unanswered)
    poll_ends(worker, task, trust::AuditOutcome::failed, now);
  std::vector<TaskId> late;
  for (const auto& [task, audit] : audits.open) {
    if (!audit.inspecting && !audit.verifying && audit.deadline <= now.at) late.push_back(task);
  }
  ask_late_again(now);
  for (const TaskId& task : late) {
    note_silence(task);
    if (verify_again(task, now)) continue;
    audit_again(task, now);
  }
}

// The auditor of a task has said nothing in time: it is neither paid nor does it count, and what it
// still hands in is too late.
void Core::State::note_silence(const TaskId& task) {
  const auto audit = audits.open.find(task);
  if (audit == audits.open.end() || !audit->second.auditor) return;
  if (audit->second.answer.agree()) return;  // The suspect has not opened its commitment.
  ++counters.audits_unanswered;
  log_warning("The auditor {} did not answer for {} in time; another one is drawn.",
              audit->second.auditor->text(), task.text());
  send(*audit->second.auditor, protocol::Cancel{.tasks = {{.task = task, .attempt = extra_attempt}},
                                                .reason = "The audit was not done in time."});
}

std::optional<Instant> Core::State::extras_deadline() const {
  std::optional<Instant> next;
  const auto at_most = [&](Instant deadline) {
    next = next ? std::min(*next, deadline) : deadline;
  };
  for (const auto& [task, audit] : audits.open) {
    if (!audit.inspecting && !audit.verifying) at_most(audit.deadline);
  }
  for (const auto& [name, trap] : audits.traps) at_most(trap.deadline);
  for (const auto& [name, poll] : audits.polls) {
    if (!poll.inspecting) at_most(poll.deadline);
  }
  for (const auto& [job, check] : audits.canaries) {
    if (check.waits()) at_most(check.next());
  }
  for (const auto& [task, check] : audits.paid) {
    if (check.waits()) at_most(check.next());
  }
  return next;
}

}  // namespace weft::jobs
