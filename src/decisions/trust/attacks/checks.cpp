#include "decisions/trust/attacks/checks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "decisions/trust/attacks/simulated_answer.h"

namespace weft::trust::attacks {
namespace {

constexpr std::size_t verifier_room = 64;   // Samples that the verifier's queue holds.
constexpr double message_seconds = 0.05;    // Time of the messages to an auditor and back.
constexpr std::uint64_t first_draw = 1000;  // The referee uses the numbers below for its draws.

}  // namespace

bool Checks::is_open(const TaskId& task, std::uint64_t serial) {
  const auto found = serials_.find(task);
  if (found == serials_.end() || found->second != serial) return false;
  serials_.erase(found);
  return parts_.context.referee.audit_wanted(task);
}

void Checks::start_audit(const AuditWanted& wanted) {
  ArenaContext& context = parts_.context;
  serials_[wanted.task] = ++serial_;
  const bool is_newcomer = context.referee.level(wanted.suspect, context.unix()) == Level::newcomer;
  const bool by_workers = wanted.trusted_only && !wanted.dispute && !wanted.by_root &&
                          !is_newcomer &&
                          (!context.setup.verifier || samples_[2].size() >= verifier_room);
  if (by_workers || !context.setup.verifier) {
    if (lease(wanted)) return;
  }
  if (!context.setup.verifier) {
    serials_.erase(wanted.task);
    parts_.rulings.follow(
        context.referee.audited(wanted.task, {}, AuditOutcome::failed, context.unix()));
    return;
  }
  const std::size_t urgency = wanted.dispute ? 0 : is_newcomer ? 1 : 2;
  samples_[urgency].push_back({.wanted = wanted, .since = context.time(), .serial = serial_});
  if (is_newcomer)
    context.scheduler.checks().begins(wanted.task, wanted.suspect, share_of(wanted), context.now());
  if (!verifying_) verify();
}

bool Checks::lease(const AuditWanted& wanted) {
  ArenaContext& context = parts_.context;
  const std::uint32_t slices = context.setup.slices;
  const auto& auditors = parts_.roster.auditors();
  for (int tries = 0; tries < 16 && !auditors.empty(); ++tries) {
    const std::uint32_t number = auditors[context.random() % auditors.size()];
    const SimulatedWorker& worker = parts_.roster.at(number);
    if (!worker.connected || worker.key == wanted.suspect ||
        context.referee.level(worker.key, context.unix()) == Level::newcomer ||
        std::ranges::contains(wanted.except, worker.key))
      continue;
    SimulatedJob* job = parts_.jobs.of(wanted.task);
    if (job == nullptr) return true;
    if (std::ranges::contains(job->delivered[wanted.task.index], number)) continue;
    const bool is_right = part_is_right(wanted, wanted.part, slices);
    const bool accomplice = parts_.roster.at(number_of(wanted.suspect)).attacker;
    // An honest auditor compares the answer with that of its own device.
    const Answer given = answer_of(wanted.root);
    const bool as_here = job->devices_differ ? given.mark == worker.vendor : is_right;
    const bool agrees =
        worker.attacker ? context.strategy->confirms(accomplice, is_right) : as_here;
    if (!job->own) parts_.work.add(1.0 / wanted.parts);
    context.events.later(context.setup.task_seconds / wanted.parts / worker.rate + message_seconds,
                         {.kind = Event::Kind::audited,
                          .worker = number,
                          .serial = serial_,
                          .task = wanted.task,
                          .agrees = agrees});
    return true;
  }
  return false;
}

void Checks::start_poll(const PollWanted& wanted) {
  ArenaContext& context = parts_.context;
  const SimulatedJob* job = parts_.jobs.of(wanted.task);
  if (job == nullptr) return;
  std::vector<std::uint32_t> able;
  for (const std::uint32_t number : parts_.roster.auditors()) {
    const SimulatedWorker& worker = parts_.roster.at(number);
    if (worker.connected && context.referee.level(worker.key, context.unix()) != Level::newcomer &&
        context.referee.standing().admissions().vendor(worker.key) == wanted.vendor &&
        !std::ranges::contains(wanted.except, worker.key))
      able.push_back(number);
  }
  const bool accomplice = parts_.roster.at(number_of(wanted.suspect)).attacker;
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    if (able.empty()) {
      parts_.rulings.follow(context.referee.polled(wanted.task, wanted.suspect, {},
                                                   AuditOutcome::failed, context.unix()));
      continue;
    }
    const std::size_t chosen = context.random() % able.size();
    const std::uint32_t number = std::exchange(able[chosen], able.back());
    able.pop_back();
    const SimulatedWorker& worker = parts_.roster.at(number);
    // An attacker confirms the results of accomplices and refutes all others.
    const bool agrees = worker.attacker
                            ? !accomplice
                            : !parts_.jobs.differs(*job, wanted.task) || worker.vendor == 0;
    if (!job->own) parts_.work.add(1.0 / context.setup.slices);
    context.events.later(
        context.setup.task_seconds / context.setup.slices / worker.rate + message_seconds,
        {.kind = Event::Kind::polled,
         .worker = number,
         .task = wanted.task,
         .suspect = wanted.suspect,
         .agrees = agrees});
  }
}

// The next queue of samples: disputes come first.
std::deque<Checks::Sample>& Checks::next_line() {
  if (!samples_[0].empty()) return samples_[0];
  return samples_[1 + turns_.next(!samples_[1].empty(), !samples_[2].empty())];
}

void Checks::verify() {
  ArenaContext& context = parts_.context;
  while (std::ranges::any_of(samples_, [](const auto& each) { return !each.empty(); })) {
    auto& line = next_line();
    Sample sample = std::move(line.front());
    line.pop_front();
    const auto open = serials_.find(sample.wanted.task);
    if (open == serials_.end() || open->second != sample.serial ||
        !context.referee.audit_wanted(sample.wanted.task))
      continue;
    const double slices = share_of(sample.wanted) * context.setup.slices;
    sample_lag_ = std::max(sample_lag_, context.time() - sample.since);
    if (&line == &samples_[1])
      newcomer_lag_ = std::max(newcomer_lag_, context.time() - sample.since);
    if (const SimulatedJob* job = parts_.jobs.of(sample.wanted.task); job != nullptr && !job->own)
      parts_.work.add(slices / context.setup.slices);
    const double took = slices / context.setup.verifier_rate;
    if (&line != &samples_[0])
      turns_.spent(&line == &samples_[1] ? VerifierTurns::newcomers : VerifierTurns::others, took);
    verifying_ = std::move(sample);
    return context.events.later(took, {.kind = Event::Kind::verified});
  }
}

double Checks::share_of(const AuditWanted& wanted) {
  if (!wanted.groups.empty()) return static_cast<double>(wanted.groups.size()) / step_groups;
  return static_cast<double>(std::min(wanted.samples, wanted.parts)) / wanted.parts;
}

// A group is a run of slices. Invented states are inconsistent in each group.
bool Checks::groups_agree(const AuditWanted& wanted) const {
  const SimulatedJob* job = parts_.jobs.of(wanted.task);
  if (job != nullptr) {
    const auto invented = job->invented.find(wanted.task.index);
    if (invented != job->invented.end() &&
        std::ranges::contains(invented->second, number_of(wanted.suspect)))
      return false;
  }
  AuditWanted in_groups = wanted;
  in_groups.parts = step_groups;
  return std::ranges::all_of(wanted.groups, [&](std::uint32_t group) {
    return part_is_right(in_groups, group, parts_.context.setup.slices);
  });
}

bool Checks::agrees(const AuditWanted& wanted) const {
  if (!wanted.groups.empty()) return groups_agree(wanted);
  // If results differ, the verifier computes a part in which they differ, so it finds any wrong
  // slice.
  if (wanted.samples >= wanted.parts || !wanted.rivals.empty()) {
    const Answer answer = answer_of(wanted.root);
    return answer.mark == 0 && answer.wrong == 0;
  }
  std::uint64_t drawn = std::uint64_t{1} << wanted.part;
  std::uint32_t count = 1;
  for (std::uint64_t number = first_draw; count < wanted.samples; ++number) {
    const std::uint64_t bit =
        std::uint64_t{1} << draw_below(wanted.parts, parts_.context.secret, Purpose::audit_part,
                                       wanted.task, wanted.suspect, number);
    count += (drawn & bit) == 0 ? 1 : 0;
    drawn |= bit;
  }
  bool agrees = true;
  for (std::uint32_t part = 0; part < wanted.parts; ++part) {
    if (((drawn >> part) & 1) != 0)
      agrees = agrees && part_is_right(wanted, part, parts_.context.setup.slices);
  }
  return agrees;
}

void Checks::verified() {
  ArenaContext& context = parts_.context;
  const Sample sample = *std::exchange(verifying_, std::nullopt);
  const AuditWanted& wanted = sample.wanted;
  context.scheduler.checks().ends(wanted.task, wanted.suspect,
                                  scheduler::SampleQueue::Outcome::checked, context.now());
  if (!is_open(wanted.task, sample.serial)) return verify();
  const bool is_right = agrees(wanted);
  const SimulatedWorker& suspect = parts_.roster.at(number_of(wanted.suspect));
  const SimulatedJob* job = parts_.jobs.of(wanted.task);
  if (!is_right && !suspect.attacker && job != nullptr && !job->own) ++honest_refused_;
  parts_.rulings.follow(context.referee.audited(
      wanted.task, {}, is_right ? AuditOutcome::agrees : AuditOutcome::differs, context.unix(),
      Auditor::coordinator,
      {.devices = context.setup.second_device ? Devices::two : Devices::one,
       .vendor = "vendor 0",
       .part = Part{.first = wanted.part, .count = 1},
       .refuted = wanted.groups.empty() ? Refuted::result : Refuted::steps}));
  if (!verifying_) verify();
}

void Checks::audited(const Event& event) {
  if (!is_open(event.task, event.serial)) return;
  ArenaContext& context = parts_.context;
  parts_.rulings.follow(context.referee.audited(
      event.task, parts_.roster.at(event.worker).key,
      event.agrees ? AuditOutcome::agrees : AuditOutcome::differs, context.unix()));
}

void Checks::polled(const Event& event) {
  ArenaContext& context = parts_.context;
  parts_.rulings.follow(context.referee.polled(
      event.task, event.suspect, parts_.roster.at(event.worker).key,
      event.agrees ? AuditOutcome::agrees : AuditOutcome::differs, context.unix()));
}

}  // namespace weft::trust::attacks
