#include "decisions/trust/attacks/attempts.h"

#include <algorithm>
#include <array>

#include "decisions/trust/step_draw.h"

namespace weft::trust::attacks {
namespace {

constexpr double crash_share = 0.02;  // Share of its tasks in which a crashing worker crashes.

}  // namespace

void Attempts::leased(std::uint32_t number, const LeasedRun& run) {
  ArenaContext& context = parts_.context;
  SimulatedWorker& worker = parts_.roster.at(number);
  worker.queue.push_back(run);
  const SimulatedJob& job = *parts_.jobs.of(run.task);
  if (context.setup.replicas < 2 || context.setup.stake <= 0) return;
  parts_.rulings.follow(context.referee.leased(
      run.task, worker.key, job.value, static_cast<MicroCredits>(worker.price_of_stake),
      context.unix(), context.plan.stepped_jobs ? StepRoots::asked : StepRoots::not_asked));
  if (parts_.jobs.of(run.task) == nullptr) return;
  const auto trap = context.referee.trap_for(run.task, worker.key, context.unix());
  if (!trap) return;
  const SimulatedJob* of = parts_.jobs.of(trap->task);
  if (of == nullptr) return;
  parts_.work.add(1);
  const Deed deed = deed_of(worker, *of, false);
  if (deed.kind != Deed::Kind::answers) return;
  const Hash root = root_of(trap->task, answer(worker, trap->task, *of, deed));
  parts_.rulings.follow(
      context.referee.trap_answered(*trap, worker.key, root == trap->root, context.unix()));
}

void Attempts::cancelled(std::uint32_t number, const TaskId& task) {
  SimulatedWorker& worker = parts_.roster.at(number);
  std::erase_if(worker.queue, [&](const LeasedRun& run) { return run.task == task; });
  if (!worker.busy || worker.running.task != task) return;
  worker.busy = false;
  ++worker.serial;
}

Deed Attempts::deed_of(const SimulatedWorker& worker, const SimulatedJob& job, bool canary) {
  if (!worker.attacker) return {};
  ArenaContext& context = parts_.context;
  return context.strategy->on_task(
      {.reputation = context.referee.book().reputation(worker.key, context.unix()),
       .established = context.referee.book().established(worker.key, context.unix()),
       .hours = context.time() / 3600,
       .number = worker.number,
       .client = job.own ? 0 : job.client,
       .own = job.own,
       .canary = canary,
       .price = job.is_costly ? costly : 1.0,
       .slices = context.setup.slices},
      context.random);
}

Answer Attempts::answer(const SimulatedWorker& worker, const TaskId& task, const SimulatedJob& job,
                        const Deed& deed) const {
  const std::uint32_t slices = parts_.context.setup.slices;
  Answer given;
  // An attacker's answer has the mark of the verifier's device.
  if (parts_.jobs.differs(job, task) && !worker.attacker) given.mark = worker.vendor;
  if (deed.wrong == 0) return given;
  const std::uint32_t room = slices - std::min(deed.wrong, slices);
  // Accomplices give the same wrong answer.
  const std::uint64_t from =
      (number_of(task.job) * 0x9e3779b97f4a7c15U + task.index * 0xbf58476d1ce4e5b9U) >> 7;
  given.wrong = (run_of_ones(deed.wrong) << (from % (room + 1))) & run_of_ones(slices);
  return given;
}

void Attempts::begin(std::uint32_t number) {
  ArenaContext& context = parts_.context;
  SimulatedWorker& worker = parts_.roster.at(number);
  while (worker.connected && !worker.busy && !worker.queue.empty()) {
    worker.running = worker.queue.front();
    worker.queue.pop_front();
    const SimulatedJob* job = parts_.jobs.of(worker.running.task);
    if (job == nullptr) continue;
    worker.busy = true;
    ++worker.serial;
    deeds_[number] = deed_of(worker, *job, worker.running.canary);
    const Deed& deed = deeds_[number];
    if (deed.kind == Deed::Kind::silent) return;
    double took = context.setup.task_seconds / worker.rate * (0.9 + 0.2 * chance(context.random));
    if (deed.kind == Deed::Kind::fails) took = 0.05;
    if (deed.invented) took *= 0.01;
    if (deed.wrong > 0 && !deed.one_value)
      took *= 1 - 0.99 * static_cast<double>(deed.wrong) / context.setup.slices;
    context.events.later(took,
                         {.kind = Event::Kind::ends, .worker = number, .serial = worker.serial});
  }
}

void Attempts::ended(const Event& event) {
  ArenaContext& context = parts_.context;
  const std::uint32_t number = event.worker;
  SimulatedWorker& worker = parts_.roster.at(number);
  if (worker.serial != event.serial || !worker.busy) return;
  worker.busy = false;
  const LeasedRun run = worker.running;
  const Deed deed = deeds_[number];
  if (worker.crashes && chance(context.random) < crash_share) {
    parts_.roster.disconnect(number, scheduler::Departure::lost);
    return context.events.later(1, {.kind = Event::Kind::joins, .worker = number});
  }
  SimulatedJob* job = parts_.jobs.of(run.task);
  if (job == nullptr) return begin(number);
  if (deed.kind == Deed::Kind::fails) {
    (void)context.scheduler.failed(run.task, worker.key, run.attempt,
                                   {ErrorCode::invalid_argument, "The shader is wrong."},
                                   context.now());
    return begin(number);
  }
  hand_in(number, run, *job, deed);
  if (worker.attacker && worker.connected &&
      context.strategy->leaves(context.time() / 3600, worker.refused))
    return parts_.roster.leave(number);
  begin(number);
}

void Attempts::hand_in(std::uint32_t number, const LeasedRun& run, SimulatedJob& job,
                       const Deed& deed) {
  ArenaContext& context = parts_.context;
  SimulatedWorker& worker = parts_.roster.at(number);
  const double took = context.setup.task_seconds / worker.rate;
  if (!context.scheduler.result({.task = run.task,
                                 .worker = worker.key,
                                 .attempt = run.attempt,
                                 .gpu_seconds = took * deed.claims},
                                context.now()))
    return;
  const Hash root = root_of(run.task, answer(worker, run.task, job, deed));
  if (deed.wrong > 0 && !job.own) {
    ++cheats_;
    ++worker.cheated;
  }
  if (!job.own) parts_.work.add(1);
  job.delivered[run.task.index].push_back(number);
  const PublicKey key = worker.key;
  // One digest of the result and the worker stands for the roots of all steps.
  Hash steps;
  if (context.plan.stepped_jobs) {
    Hash whose;
    whose.bytes = key.bytes;
    steps = committed_steps(std::array{root}, whose);
  }
  if (deed.invented) job.invented[run.task.index].push_back(number);
  parts_.rulings.follow(context.referee.add_result(
      {.task = run.task, .worker = key, .attempt = run.attempt, .root = root, .steps = steps},
      context.unix()));
  const std::array<Claim, 1> claims{Claim{.task = run.task, .attempt = run.attempt, .root = root}};
  parts_.rulings.follow(context.referee.add_receipt(key, claims, context.unix()));
}

}  // namespace weft::trust::attacks
