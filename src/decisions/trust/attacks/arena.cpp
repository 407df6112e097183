#include "decisions/trust/attacks/arena.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "common/base/match.h"
#include "decisions/trust/attacks/attempts.h"
#include "decisions/trust/attacks/checks.h"
#include "decisions/trust/attacks/corrections.h"
#include "decisions/trust/attacks/open_jobs.h"
#include "decisions/trust/attacks/roster.h"
#include "decisions/trust/attacks/simulated_answer.h"
#include "decisions/trust/attacks/work_done.h"

namespace weft::trust::attacks {
namespace {

constexpr double pay_held_seconds = 600;
// The time in which the operator's device measures a canary.
constexpr double canary_seconds = 0.2;

// Drives the parts: hands events and the scheduler's decisions to them, carries out the referee's
// rulings, and counts the outcome.
class Arena final : private RulingsSink {
 public:
  Arena(const Scene& setup, const Entry* strategy, const Plan& plan,
        const std::function<bool()>& stop)
      : stop_(stop), context_(setup, strategy, plan) {
    const auto attackers =
        strategy == nullptr ? 0U
        : plan.wallets > 0  ? plan.wallets
                            : static_cast<std::uint32_t>(std::lround(plan.share * setup.workers));
    const std::uint32_t among = plan.wallets > 0 ? 0 : attackers;
    for (std::uint32_t i = 0; i < setup.invited; ++i) roster_.join_honest(0, true);
    for (std::uint32_t i = 0; i + among < setup.workers; ++i)
      roster_.join_honest(setup.start, false);
    for (std::uint32_t i = 0; i < setup.newcomers; ++i) roster_.join_honest(0, false);
    for (std::uint32_t i = 0; i < attackers; ++i) roster_.join_attacker(i, plan.start);
  }

  Outcome run();

 private:
  // The simulated seconds that a run may take at most, so that a fault of the policy shows as
  // missing tasks and not as a hang.
  [[nodiscard]] double longest() const;
  // Advances the time to the next event. Returns false if there is none.
  [[nodiscard]] bool pass_time();
  void happen(const Event& event);
  void canary_measured(const JobId& job);
  // Carries out a decision of the scheduler.
  void act(const scheduler::Decision& decision);
  void begin_leases(const scheduler::Lease& lease);
  void cancel(const scheduler::Cancel& cancel);
  // Carries out the rulings of the referee.
  void follow(const std::vector<Ruling>& rulings) override;
  void carry_out(const Ruling& ruling);
  void refuse(const Refused& refused);
  void accept(const Accepted& accepted);
  void convict(const Convicted& convicted);
  void end_job(const JobId& id, bool failed);
  void finish();

  const std::function<bool()>& stop_;
  ArenaContext context_;
  WorkDone work_;
  Roster roster_{context_};
  OpenJobs jobs_{context_};
  Corrections corrections_{context_, roster_};
  Attempts attempts_{
      {.context = context_, .roster = roster_, .jobs = jobs_, .work = work_, .rulings = *this}};
  Checks checks_{
      {.context = context_, .roster = roster_, .jobs = jobs_, .work = work_, .rulings = *this}};
  // Rulings that wait until all earlier rulings have been carried out.
  std::deque<AuditWanted> audits_;
  std::deque<PollWanted> polls_;
  std::deque<std::pair<JobId, bool>> ended_;
  std::deque<std::uint32_t> replaced_;
  bool follows_ = false;
  double wrong_value_ = 0;
  Outcome outcome_;
};

double Arena::longest() const {
  const Scene& setup = context_.setup;
  const double ideal = setup.tasks * setup.task_seconds * setup.replicas /
                       std::max<double>(1, setup.workers + setup.newcomers + setup.invited);
  return setup.stop_after > 0 ? setup.stop_after * 3600 : 3600 + 20 * ideal;
}

Outcome Arena::run() {
  while (jobs_.wants_more() && jobs_.open() < context_.setup.jobs_open) jobs_.submit();
  std::uint64_t steps = 0;
  const double end = longest();
  while (jobs_.open() > 0 && context_.time() < end) {
    if (++steps % 256 == 0 && stop_ && stop_()) break;
    // The scheduler is asked again, because a decision that is carried out may allow more
    // decisions.
    for (auto decisions = context_.scheduler.decide(context_.now()); !decisions.empty();
         decisions = context_.scheduler.decide(context_.now()))
      for (const auto& decision : decisions) act(decision);
    if (jobs_.open() == 0 || !pass_time()) break;
    while (const auto event = context_.events.take_due()) happen(*event);
  }
  finish();
  return outcome_;
}

bool Arena::pass_time() {
  double next = context_.events.next_time().value_or(std::numeric_limits<double>::infinity());
  if (const auto deadline = context_.scheduler.next_deadline())
    next = std::min(
        next,
        std::max(std::chrono::duration<double>(*deadline - ArenaContext::instant(0)).count() + 1e-6,
                 context_.time()));
  if (!std::isfinite(next)) return false;
  context_.events.advance_to(next);
  return true;
}

void Arena::happen(const Event& event) {
  switch (event.kind) {
    case Event::Kind::ends:
      return attempts_.ended(event);
    case Event::Kind::verified:
      return checks_.verified();
    case Event::Kind::audited:
      return checks_.audited(event);
    case Event::Kind::polled:
      return checks_.polled(event);
    case Event::Kind::canary:
      return canary_measured(event.task.job);
    case Event::Kind::joins:
      if (!roster_.at(event.worker).connected) roster_.connect(event.worker);
      return;
  }
}

void Arena::canary_measured(const JobId& job) {
  if (jobs_.of({.job = job}) == nullptr) return;
  context_.scheduler.checks().canary_measured(job,
                                              {.workgroups = context_.setup.slices,
                                               .gpu_seconds = context_.setup.task_seconds,
                                               .elapsed_seconds = context_.setup.task_seconds,
                                               .rate = 1},
                                              context_.now());
}

// --- Carrying out the decisions of the scheduler.

void Arena::act(const scheduler::Decision& decision) {
  if (const auto* lease = std::get_if<scheduler::Lease>(&decision)) {
    begin_leases(*lease);
  } else if (const auto* one = std::get_if<scheduler::Cancel>(&decision)) {
    cancel(*one);
  } else if (const auto* lost = std::get_if<scheduler::LeaseLost>(&decision)) {
    context_.referee.lost(lost->task, lost->worker);
  } else if (const auto* gone = std::get_if<scheduler::WorkerLost>(&decision)) {
    const std::uint32_t number = number_of(gone->worker);
    roster_.lost(number);
    context_.events.later(1, {.kind = Event::Kind::joins, .worker = number});
  } else if (const auto* failed = std::get_if<scheduler::JobFailed>(&decision)) {
    end_job(failed->job, true);
  } else if (const auto* none = std::get_if<scheduler::NoWorkerLeft>(&decision)) {
    follow(context_.referee.give_up(none->task, context_.unix()));
  } else if (const auto* canary = std::get_if<scheduler::CanaryWanted>(&decision)) {
    if (context_.setup.verifier)
      context_.events.later(canary_seconds,
                            {.kind = Event::Kind::canary, .task = {.job = canary->job}});
  } else if (const auto* estimated = std::get_if<scheduler::Estimated>(&decision)) {
    if (SimulatedJob* job = jobs_.of({.job = estimated->job})) {
      job->value = scheduler::task_price(estimated->estimate, job->tasks) / context_.setup.replicas;
      context_.referee.set_value(estimated->job, job->value);
    }
  }
}

void Arena::begin_leases(const scheduler::Lease& lease) {
  const std::uint32_t number = number_of(lease.worker);
  for (const auto& task : lease.tasks) {
    const TaskId name{.job = lease.job, .index = task.index};
    if (jobs_.of(name) == nullptr) break;
    attempts_.leased(number, {.task = name, .attempt = task.attempt, .canary = lease.canary});
  }
  attempts_.begin(number);
}

void Arena::cancel(const scheduler::Cancel& cancel) {
  const std::uint32_t number = number_of(cancel.worker);
  for (const auto& held : cancel.tasks) attempts_.cancelled(number, held.task);
  attempts_.begin(number);
}

// --- Carrying out the rulings of the referee.

void Arena::follow(const std::vector<Ruling>& rulings) {
  for (const Ruling& ruling : rulings) carry_out(ruling);
  if (follows_) return;
  follows_ = true;
  while (!audits_.empty() || !polls_.empty() || !ended_.empty() || !replaced_.empty()) {
    if (!audits_.empty()) {
      const AuditWanted wanted = std::move(audits_.front());
      audits_.pop_front();
      checks_.start_audit(wanted);
    } else if (!polls_.empty()) {
      const PollWanted wanted = std::move(polls_.front());
      polls_.pop_front();
      checks_.start_poll(wanted);
    } else if (!ended_.empty()) {
      const auto [job, failed] = ended_.front();
      ended_.pop_front();
      end_job(job, failed);
    } else {
      const std::uint32_t number = replaced_.front();
      replaced_.pop_front();
      roster_.replace(number);
    }
  }
  follows_ = false;
}

void Arena::carry_out(const Ruling& ruling) {
  std::visit(Match{[&](const Counted& counted) {
                     context_.scheduler.counted(counted.task, counted.worker);
                     roster_.await(counted.task, number_of(counted.worker));
                   },
                   [&](const Accepted& accepted) { accept(accepted); },
                   [&](const Refused& refused) { refuse(refused); },
                   [&](const NeedReplicas& need) {
                     context_.scheduler.want_replicas(need.task, need.replicas);
                   },
                   [&](const JobFailed& failed) { ended_.emplace_back(failed.job, true); },
                   [&](const AuditWanted& wanted) { audits_.push_back(wanted); },
                   [&](const PollWanted& wanted) { polls_.push_back(wanted); },
                   [&](const Suspected& suspected) { corrections_.suspect(suspected); },
                   [&](const Convicted& convicted) { convict(convicted); }},
             ruling);
}

void Arena::refuse(const Refused& refused) {
  const std::uint32_t number = number_of(refused.worker);
  if (refused.wrong) {
    ++roster_.at(number).refused;
    context_.scheduler.bar(refused.task, refused.worker);
  } else {
    (void)context_.scheduler.failed(refused.task, refused.worker, refused.attempt,
                                    {ErrorCode::data_loss, refused.reason}, context_.now());
  }
  roster_.decided(refused.task, number);
}

void Arena::accept(const Accepted& accepted) {
  SimulatedJob* job = jobs_.of(accepted.task);
  if (job == nullptr) return;
  const double time = context_.time();
  std::vector<PublicKey> right = accepted.agreeing;
  right.insert(right.end(), accepted.jurors.begin(), accepted.jurors.end());
  context_.scheduler.settled(accepted.task, right);
  const Answer answer = answer_of(accepted.root);
  const bool is_wrong = answer.wrong != 0 && !job->own;
  const auto value = static_cast<double>(job->value);
  if (!job->own) work_.accepted();
  std::size_t place = 0;
  if (is_wrong) {
    ++outcome_.wrong;
    outcome_.wrong_all += answer.wrong == run_of_ones(context_.setup.slices) ? 1 : 0;
    place = corrections_.add_wrong();
    wrong_value_ += value;
  }
  const double share = static_cast<double>(std::popcount(answer.wrong)) / context_.setup.slices;
  for (const PublicKey& key : accepted.agreeing) {
    SimulatedWorker& worker = roster_.at(number_of(key));
    if (worker.paid.empty() || worker.paid.back().time < time - 60)
      worker.paid.push_back({.time = time, .amount = 0});
    ++worker.paid.back().amount;
    if (!worker.attacker) continue;
    if (is_wrong) {
      outcome_.gained += value * share;
      worker.wrong.push_back(place);
    }
    if (context_.referee.level(key, context_.unix()) == Level::newcomer) {
      worker.held.push_back({.time = time, .amount = value});
      while (worker.held.front().time < time - pay_held_seconds) worker.held.pop_front();
    }
  }
  const auto delivered = job->delivered.extract(accepted.task.index);
  if (++job->accepted == job->tasks) ended_.emplace_back(accepted.task.job, false);
  if (delivered.empty()) return;
  for (const std::uint32_t number : delivered.mapped()) roster_.decided(accepted.task, number);
}

void Arena::convict(const Convicted& convicted) {
  const std::uint32_t number = number_of(convicted.worker);
  SimulatedWorker& worker = roster_.at(number);
  const double taken = std::min(worker.price_of_stake, static_cast<double>(convicted.penalty));
  worker.price_of_stake -= taken;
  if (!worker.attacker) {
    if (!std::exchange(worker.convicted, true)) ++outcome_.honest_convicted;
    outcome_.honest_slashed += taken;
    return roster_.refresh(number);
  }
  outcome_.slashed += taken;
  for (const Timed& paid : worker.held) {
    if (paid.time >= context_.time() - pay_held_seconds) outcome_.forfeited += paid.amount;
  }
  worker.held.clear();
  corrections_.convicted(worker);
  roster_.refresh(number);
  if (std::exchange(worker.convicted, true)) return;
  ++outcome_.convicted;
  replaced_.push_back(number);
}

void Arena::end_job(const JobId& id, bool failed) {
  const auto job = jobs_.end(id);
  if (!job) return;
  for (const auto& [index, by] : job->delivered) {
    for (const std::uint32_t worker : by) roster_.decided({.job = id, .index = index}, worker);
  }
  if (job->own) return;
  ++(failed ? outcome_.jobs_failed : outcome_.jobs);
  outcome_.price += job->price();
  if (jobs_.wants_more()) jobs_.submit();
}

void Arena::finish() {
  outcome_.tasks = work_.tasks();
  outcome_.cheats = attempts_.cheats();
  outcome_.established_share = attempts_.established_share();
  outcome_.corrected = corrections_.corrected();
  outcome_.rechecked = corrections_.rechecked();
  outcome_.honest_refused = checks_.honest_refused();
  outcome_.sample_lag = checks_.sample_lag();
  outcome_.newcomer_lag = checks_.newcomer_lag();
  // The measured probability that a cheat leads to a conviction. With few cheats it tends to 1/32.
  outcome_.uncorrected = corrections_.uncorrected((outcome_.convicted + 1.0) /
                                                  (static_cast<double>(outcome_.cheats) + 32));
  outcome_.seconds = context_.time();
  outcome_.undecided = context_.setup.tasks - outcome_.tasks;
  outcome_.price += jobs_.open_price();
  if (outcome_.tasks > 0) outcome_.price /= static_cast<double>(outcome_.tasks) * 1e6;
  outcome_.extra_cold = work_.extra_cold();
  outcome_.extra_warm = work_.extra_warm();
  const double unit =
      outcome_.wrong > 0 ? wrong_value_ / static_cast<double>(outcome_.wrong) : context_.credits(1);
  outcome_.gained /= unit;
  outcome_.slashed /= unit;
  outcome_.forfeited /= unit;
  outcome_.honest_slashed /= context_.credits(1);
}

}  // namespace

std::string Outcome::json() const {
  return weft::format(
      R"({{"tasks":{},"undecided":{},"cheats":{},"wrong":{},"wrong_all":{},"corrected":{},"uncorrected":{:.3f},"uncorrected_share":{:.3e},"cost":{:.3f},"gained":{:.3f},"slashed":{:.3f},"forfeited":{:.3f},"established_share":{:.3f},"convicted":{},"honest_convicted":{},"honest_slashed":{:.3f},"honest_refused":{},"jobs":{},"jobs_failed":{},"seconds":{:.1f},"price":{:.5f},"extra_cold":{:.4f},"extra_warm":{:.4f},"rechecked":{},"sample_lag":{:.1f},"newcomer_lag":{:.1f}}})",
      tasks, undecided, cheats, wrong, wrong_all, corrected, uncorrected, uncorrected_share(),
      cost(), gained, slashed, forfeited, established_share, convicted, honest_convicted,
      honest_slashed, honest_refused, jobs, jobs_failed, seconds, price, extra_cold, extra_warm,
      rechecked, sample_lag, newcomer_lag);
}

Outcome play(const Scene& setup, const Entry* strategy, const Plan& plan,
             const std::function<bool()>& stop) {
  return Arena(setup, strategy, plan, stop).run();
}

}  // namespace weft::trust::attacks
