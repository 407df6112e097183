#include "decisions/trust/attacks/arena.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/match.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/trust/suspects.h"
#include "decisions/trust/verifier_turns.h"

namespace weft::trust::attacks {
namespace {

constexpr UnixMillis unix_start = 1'700'000'000'000;
constexpr double pay_held_seconds = 600;
constexpr std::uint32_t cold_tasks = 10'000;
constexpr double canary_seconds = 0.2;  // The operator's device measures a canary.
constexpr std::uint32_t costly = 10;    // A costly job costs so many times as much as the others.
constexpr auto costly_every = static_cast<std::uint32_t>(1 / costly_share);
constexpr std::uint32_t own_clients = 20;
constexpr double crash_share = 0.02;  // Share of its tasks in which a crashing worker crashes.

template <class Id>
Id id_of(std::uint32_t number) {
  Id id;
  const std::uint32_t mark = number + 1;
  std::memcpy(id.bytes.data(), &mark, sizeof mark);
  id.bytes[15] = 1;
  return id;
}
template <class Id>
std::uint32_t number_of(const Id& id) {
  std::uint32_t mark = 0;
  std::memcpy(&mark, id.bytes.data(), sizeof mark);
  return mark - 1;
}
Instant instant(double seconds) {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1000 + seconds)));
}

// The root of an answer says what the simulation knows of it.
struct Answer {
  std::uint64_t wrong = 0;  // A bit for each slice.
  std::uint32_t mark = 0;   // Answers with different marks differ everywhere.
};
Hash root_of(const TaskId& task, const Answer& answer) {
  Hash root;
  const std::uint32_t job = number_of(task.job);
  std::memcpy(root.bytes.data(), &task.index, 4);
  std::memcpy(root.bytes.data() + 4, &job, 4);
  std::memcpy(root.bytes.data() + 8, &answer.mark, 4);
  std::memcpy(root.bytes.data() + 12, &answer.wrong, 8);
  return root;
}
Answer answer_of(const Hash& root) {
  Answer answer;
  std::memcpy(&answer.mark, root.bytes.data() + 8, 4);
  std::memcpy(&answer.wrong, root.bytes.data() + 12, 8);
  return answer;
}
std::uint64_t run_of_ones(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

class Arena {
 public:
  Arena(const Scene& setup, const Entry* strategy, const Plan& plan,
        const std::function<bool()>& stop)
      : setup_(setup),
        plan_(plan),
        stop_(stop),
        strategy_(strategy == nullptr ? nullptr : strategy->make(plan)),
        random_(setup.seed * 0x9e3779b97f4a7c15U + 1),
        scheduler_(scheduler_settings(setup)),
        referee_(setup.referee, secret_of(setup.seed)) {
    referee_.set_root_at_hand([this] { return setup_.verifier; });
    const auto attackers =
        strategy_ == nullptr ? 0U
        : plan.wallets > 0   ? plan.wallets
                             : static_cast<std::uint32_t>(std::lround(plan.share * setup.workers));
    const std::uint32_t among = plan.wallets > 0 ? 0 : attackers;
    for (std::uint32_t i = 0; i < setup.invited; ++i) join_honest(0, true);
    for (std::uint32_t i = 0; i + among < setup.workers; ++i) join_honest(setup.start, false);
    for (std::uint32_t i = 0; i < setup.newcomers; ++i) join_honest(0, false);
    for (std::uint32_t i = 0; i < attackers; ++i) join_attacker(i, plan.start);
  }

  Outcome run() {
    while (submitted_ < setup_.tasks && open_jobs_ < setup_.jobs_open) submit();
    std::uint64_t steps = 0;
    // A bound, so that a fault of the policy shows as missing tasks and not as a hang.
    const double ideal = setup_.tasks * setup_.task_seconds * setup_.replicas /
                         std::max<double>(1, setup_.workers + setup_.newcomers + setup_.invited);
    const double end = setup_.stop_after > 0 ? setup_.stop_after * 3600 : 3600 + 20 * ideal;
    while (open_jobs_ > 0 && time_ < end) {
      if (++steps % 256 == 0 && stop_ && stop_()) break;
      // What is decided may leave more to decide.
      for (auto decisions = scheduler_.decide(instant(time_)); !decisions.empty();
           decisions = scheduler_.decide(instant(time_)))
        for (const auto& decision : decisions) act(decision);
      if (open_jobs_ == 0) break;
      double next = std::numeric_limits<double>::infinity();
      if (!events_.empty()) next = events_.top().time;
      if (const auto deadline = scheduler_.next_deadline())
        next = std::min(
            next,
            std::max(std::chrono::duration<double>(*deadline - instant(0)).count() + 1e-6, time_));
      if (!std::isfinite(next)) break;
      time_ = std::max(time_, next);
      while (!events_.empty() && events_.top().time <= time_) {
        const Event event = events_.top();
        events_.pop();
        happen(event);
      }
    }
    finish();
    return outcome_;
  }

 private:
  struct Run {
    TaskId task;
    std::uint32_t attempt = 0;
    bool canary = false;
  };
  struct Paid {
    double time = 0;
    double amount = 0;
  };
  struct Worker {
    PublicKey key;
    double rate = 1;
    double price_of_stake = 0;  // What it has staked, in credits.
    std::uint32_t vendor = 0;   // The vendor of its device.
    std::uint32_t number = 0;   // An attacker has one.
    bool attacker = false;
    bool crashes = false;
    bool connected = false;
    bool convicted = false;
    bool busy = false;
    bool audits = false;       // Has ever had the standing to.
    std::uint64_t serial = 0;  // The serial of what it runs.
    Run running;
    std::deque<Run> queue;
    std::unordered_set<TaskId> undecided;
    std::deque<Paid> held;
    std::vector<std::size_t> wrong;  // Places in `wrong_`.
    std::deque<Paid> paid;           // Not computed again yet, by the minute: `amount` tasks.
    std::uint32_t refused = 0;
    std::uint32_t cheated = 0;
    double joined = 0;
  };
  struct Job {
    std::uint32_t client = 0;
    std::uint32_t tasks = 0;
    std::uint32_t accepted = 0;
    bool own = false;
    bool devices_differ = false;
    bool costly = false;
    MicroCredits value = 0;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> delivered;
  };
  struct Wrong {
    double time = 0;
    bool corrected = false;
  };
  struct Event {
    enum class Kind : std::uint8_t { ends, verified, audited, polled, canary, joins } kind;
    double time = 0;
    std::uint64_t order = 0;
    std::uint32_t worker = 0;
    std::uint64_t serial = 0;
    TaskId task{};
    PublicKey suspect{};
    bool agrees = false;
    friend bool operator<(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  struct Sample {
    AuditWanted wanted;
    double since = 0;
    std::uint64_t serial = 0;
  };

  static Secret secret_of(std::uint64_t seed) {
    Secret secret;
    std::memcpy(secret.bytes.data(), &seed, sizeof seed);
    return secret;
  }
  static scheduler::Settings scheduler_settings(const Scene& setup) {
    scheduler::Settings settings;
    settings.beat = std::chrono::hours(24 * 365);  // Beats are not sent here.
    settings.checkpoint_min = std::chrono::milliseconds(0);
    settings.leaving_risk_max = 1;
    settings.safeguards = setup.safeguards;
    return settings;
  }
  [[nodiscard]] UnixMillis unix() const {
    return unix_start + static_cast<UnixMillis>(time_ * 1000);
  }
  [[nodiscard]] double credits(double prices) const { return prices * setup_.task_seconds * 1e6; }

  // --- Workers
  void join_honest(double start, bool invited) {
    const auto number = static_cast<std::uint32_t>(workers_.size());
    Worker worker;
    worker.key = id_of<PublicKey>(number);
    worker.rate = 0.8 + 0.4 * chance(random_);
    worker.crashes = chance(random_) < setup_.crashing;
    if (chance(random_) < setup_.slow) worker.rate /= 10;
    worker.vendor = setup_.vendors <= 1 ? 0 : number % setup_.vendors;
    if (start > 0) worker.price_of_stake = credits(setup_.stake);
    if (invited) referee_.admissions().invite(worker.key, Invitation::worker);
    admit(std::move(worker), start);
  }
  void join_attacker(std::uint32_t number, double start) {
    Worker worker;
    worker.key = id_of<PublicKey>(static_cast<std::uint32_t>(workers_.size()));
    worker.rate = 0.8 + 0.4 * chance(random_);
    worker.attacker = true;
    worker.number = number;
    worker.price_of_stake = credits(plan_.stake);
    // It says what is best for it: the vendor of those that it wants convicted, or its own.
    worker.vendor = plan_.own_vendor      ? 1000 + number
                    : setup_.vendors <= 1 ? 0
                                          : 1 + number % (setup_.vendors - 1);
    admit(std::move(worker), start);
  }
  void admit(Worker worker, double start) {
    if (start > 0)
      referee_.restore_record(worker.key, {.verified = referee_.book().verified_at(start),
                                           .updated = unix(),
                                           .wrong = 0,
                                           .suspended_until = 0});
    worker.joined = time_;
    referee_.admissions().set_vendor(worker.key, weft::format("vendor {}", worker.vendor));
    workers_.push_back(std::move(worker));
    connect(static_cast<std::uint32_t>(workers_.size()) - 1);
  }
  void connect(std::uint32_t number) {
    Worker& worker = workers_[number];
    scheduler::Worker joining{
        .key = worker.key, .slots = 4, .capabilities = {}, .standing = standing(worker)};
    joining.capabilities.memory_bytes = 1 << 30;
    joining.capabilities.f32_gflop_per_s = 1000 * worker.rate;
    check(scheduler_.add_worker(joining, instant(time_)).has_value(), "a worker joins once");
    worker.connected = true;
    refresh(number);
  }
  void disconnect(std::uint32_t number, scheduler::Departure departure) {
    Worker& worker = workers_[number];
    if (!worker.connected) return;
    scheduler_.remove_worker(worker.key, departure, instant(time_));
    worker.connected = false;
    worker.busy = false;
    ++worker.serial;
    worker.queue.clear();
    referee_.gone(worker.key);
  }
  scheduler::Standing standing(const Worker& worker) const {
    switch (referee_.level(worker.key, unix())) {
      case Level::newcomer:
        return scheduler::Standing::newcomer;
      case Level::established:
        return scheduler::Standing::established;
      case Level::invited:
      case Level::root:
        break;
    }
    return scheduler::Standing::invited;
  }
  void refresh(std::uint32_t number) {
    Worker& worker = workers_[number];
    if (!worker.connected) return;
    if (referee_.book().suspended(worker.key, unix())) {
      scheduler_.set_standing(worker.key, scheduler::Standing::newcomer);
      return scheduler_.set_slots(worker.key, 0);
    }
    const scheduler::Standing its = standing(worker);
    scheduler_.set_standing(worker.key, its);
    if (its != scheduler::Standing::newcomer && !std::exchange(worker.audits, true))
      auditors_.push_back(number);
    const std::size_t most = referee_.leases_max(worker.key, unix());
    const std::size_t waiting = worker.undecided.size();
    scheduler_.set_leases_max(worker.key,
                              static_cast<std::uint32_t>(most > waiting ? most - waiting : 0),
                              referee_.sample_share(worker.key, unix()));
  }
  // Another wallet of the same attacker.
  void replace(std::uint32_t number) {
    disconnect(number, scheduler::Departure::left);
    if (plan_.returns) join_attacker(workers_[number].number, 0);
  }

  // --- Jobs
  void submit() {
    const bool own = strategy_ != nullptr && plan_.own_jobs > 0 && chance(random_) < plan_.own_jobs;
    if (own) add_job(plan_.own_tasks, setup_.clients + own_started_++ % own_clients, true);
    const std::uint32_t tasks = std::min(setup_.job_tasks, setup_.tasks - submitted_);
    submitted_ += tasks;
    ++open_jobs_;
    add_job(tasks, honest_started_++ % setup_.clients, false);
  }
  void add_job(std::uint32_t tasks, std::uint32_t client, bool own) {
    const std::uint32_t number = jobs_started_++;
    const auto id = id_of<JobId>(number);
    Job job;
    job.client = client;
    job.tasks = tasks;
    job.own = own;
    job.devices_differ = own && plan_.devices_differ;
    job.costly = number % costly_every == costly_every - 1;
    scheduler::Job wanted;
    wanted.id = id;
    wanted.tasks = tasks;
    wanted.workgroups = tasks * setup_.slices;
    wanted.replicas = setup_.replicas;
    wanted.replicas_first = setup_.replicas > 1 && setup_.stake > 0 ? 1 : 0;
    wanted.budget = MicroCredits{1} << 60;
    wanted.per_unit = MicroCredits{1'000'000} * (job.costly ? costly : 1);
    wanted.client = id_of<PublicKey>(1'000'000 + client);
    if (setup_.referee.defences.newcomers_decide_nothing)
      wanted.sample_parts =
          std::clamp<std::uint32_t>(setup_.slices, 1, setup_.referee.checks.audit_parts_max);
    jobs_.emplace(number, std::move(job));
    referee_.add_job(
        id,
        {.replicas = setup_.replicas,
         .audit = 0,
         .parts = setup_.slices,
         .agree = {},
         .client = wanted.client,
         .eligible = [this, id] { return static_cast<std::uint32_t>(scheduler_.able_count(id)); }},
        tasks);
    check(scheduler_.add_job(wanted, instant(time_)).has_value(), "a job is new");
  }
  void end_job(const JobId& id, bool failed) {
    const auto found = jobs_.find(number_of(id));
    if (found == jobs_.end()) return;
    const Job job = std::move(found->second);
    jobs_.erase(found);
    referee_.remove_job(id);
    scheduler_.remove_job(id, "The job has ended.");
    for (const auto& [index, by] : job.delivered) {
      for (const std::uint32_t worker : by) decided({.job = id, .index = index}, worker);
    }
    if (job.own) return;
    ++(failed ? outcome_.jobs_failed : outcome_.jobs);
    outcome_.price += static_cast<double>(job.value) * job.accepted / (job.costly ? costly : 1);
    --open_jobs_;
    if (submitted_ < setup_.tasks) submit();
  }
  Job* job_of(const TaskId& task) {
    const auto found = jobs_.find(number_of(task.job));
    return found == jobs_.end() ? nullptr : &found->second;
  }

  // --- What the scheduler decides
  void act(const scheduler::Decision& decision) {
    if (const auto* lease = std::get_if<scheduler::Lease>(&decision)) {
      const std::uint32_t number = number_of(lease->worker);
      for (const auto& task : lease->tasks) {
        const TaskId name{.job = lease->job, .index = task.index};
        if (job_of(name) == nullptr) break;
        leased(number, {.task = name, .attempt = task.attempt, .canary = lease->canary});
      }
      begin(number);
    } else if (const auto* cancel = std::get_if<scheduler::Cancel>(&decision)) {
      const std::uint32_t number = number_of(cancel->worker);
      Worker& worker = workers_[number];
      for (const auto& held : cancel->tasks) {
        std::erase_if(worker.queue, [&](const Run& run) { return run.task == held.task; });
        if (worker.busy && worker.running.task == held.task) {
          worker.busy = false;
          ++worker.serial;
        }
      }
      begin(number);
    } else if (const auto* lost = std::get_if<scheduler::LeaseLost>(&decision)) {
      referee_.lost(lost->task, lost->worker);
    } else if (const auto* gone = std::get_if<scheduler::WorkerLost>(&decision)) {
      const std::uint32_t number = number_of(gone->worker);
      Worker& worker = workers_[number];
      worker.connected = false;
      worker.busy = false;
      ++worker.serial;
      worker.queue.clear();
      later(1, {.kind = Event::Kind::joins, .worker = number});
    } else if (const auto* failed = std::get_if<scheduler::JobFailed>(&decision)) {
      end_job(failed->job, true);
    } else if (const auto* none = std::get_if<scheduler::NoWorkerLeft>(&decision)) {
      follow(referee_.give_up(none->task, unix()));
    } else if (const auto* canary = std::get_if<scheduler::CanaryWanted>(&decision)) {
      if (setup_.verifier)
        later(canary_seconds, {.kind = Event::Kind::canary, .task = {.job = canary->job}});
    } else if (const auto* estimated = std::get_if<scheduler::Estimated>(&decision)) {
      if (Job* job = job_of({.job = estimated->job})) {
        job->value = scheduler::task_price(estimated->estimate, job->tasks) / setup_.replicas;
        referee_.set_value(estimated->job, job->value);
      }
    }
  }

  void leased(std::uint32_t number, const Run& run) {
    Worker& worker = workers_[number];
    worker.queue.push_back(run);
    Job& job = *job_of(run.task);
    if (setup_.replicas < 2 || setup_.stake <= 0) return;
    follow(referee_.leased(run.task, worker.key, job.value,
                           static_cast<MicroCredits>(worker.price_of_stake), unix()));
    if (job_of(run.task) == nullptr) return;
    const auto trap = referee_.trap_for(run.task, worker.key, unix());
    if (!trap) return;
    const Job* of = job_of(trap->task);
    if (of == nullptr) return;
    work(1);
    const Deed deed = deed_of(worker, trap->task, *of, false);
    if (deed.kind != Deed::Kind::answers) return;
    const Hash root = root_of(trap->task, answer(worker, trap->task, *of, deed));
    follow(referee_.trap_answered(*trap, worker.key, root == trap->root, unix()));
  }

  // --- Running
  void later(double delay, Event event) {
    event.time = time_ + delay;
    event.order = ++order_;
    events_.push(event);
  }
  Deed deed_of(const Worker& worker, const TaskId& /*task*/, const Job& job, bool canary) {
    if (!worker.attacker) return {};
    return strategy_->on_task({.reputation = referee_.book().reputation(worker.key, unix()),
                               .established = referee_.established(worker.key, unix()),
                               .hours = time_ / 3600,
                               .number = worker.number,
                               .client = job.own ? 0 : job.client,
                               .own = job.own,
                               .canary = canary,
                               .price = job.costly ? costly : 1.0,
                               .slices = setup_.slices},
                              random_);
  }
  Answer answer(const Worker& worker, const TaskId& task, const Job& job, const Deed& deed) {
    Answer given;
    // An attacker answers as the verifier's device does.
    if (differs_here(job, task) && !worker.attacker) given.mark = worker.vendor;
    if (deed.wrong == 0) return given;
    const std::uint32_t room = setup_.slices - std::min(deed.wrong, setup_.slices);
    // Accomplices give the same wrong answer.
    const std::uint64_t from =
        (number_of(task.job) * 0x9e3779b97f4a7c15U + task.index * 0xbf58476d1ce4e5b9U) >> 7;
    given.wrong = (run_of_ones(deed.wrong) << (from % (room + 1))) & run_of_ones(setup_.slices);
    return given;
  }
  [[nodiscard]] bool differs_here(const Job& job, const TaskId& task) const {
    return job.devices_differ && task.index % plan_.differ_every == plan_.differ_every - 1;
  }
  void begin(std::uint32_t number) {
    Worker& worker = workers_[number];
    while (worker.connected && !worker.busy && !worker.queue.empty()) {
      worker.running = worker.queue.front();
      worker.queue.pop_front();
      const Job* job = job_of(worker.running.task);
      if (job == nullptr) continue;
      worker.busy = true;
      ++worker.serial;
      deeds_[number] = deed_of(worker, worker.running.task, *job, worker.running.canary);
      const Deed& deed = deeds_[number];
      if (deed.kind == Deed::Kind::silent) return;
      double took = setup_.task_seconds / worker.rate * (0.9 + 0.2 * chance(random_));
      if (deed.kind == Deed::Kind::fails) took = 0.05;
      if (deed.wrong > 0 && !deed.one_value)
        took *= 1 - 0.99 * static_cast<double>(deed.wrong) / setup_.slices;
      later(took, {.kind = Event::Kind::ends, .worker = number, .serial = worker.serial});
    }
  }
  void happen(const Event& event) {
    switch (event.kind) {
      case Event::Kind::ends:
        return end(event);
      case Event::Kind::verified:
        return verified();
      case Event::Kind::audited: {
        if (!is_open(event.task, event.serial)) return;
        follow(referee_.audited(event.task, workers_[event.worker].key,
                                event.agrees ? AuditOutcome::agrees : AuditOutcome::differs,
                                unix()));
        return;
      }
      case Event::Kind::polled:
        follow(referee_.polled(event.task, event.suspect, workers_[event.worker].key,
                               event.agrees ? AuditOutcome::agrees : AuditOutcome::differs,
                               unix()));
        return;
      case Event::Kind::canary:
        if (job_of(event.task) != nullptr)
          scheduler_.canary_measured(event.task.job,
                                     {.workgroups = setup_.slices,
                                      .gpu_seconds = setup_.task_seconds,
                                      .elapsed_seconds = setup_.task_seconds,
                                      .rate = 1},
                                     instant(time_));
        return;
      case Event::Kind::joins:
        if (!workers_[event.worker].connected) connect(event.worker);
        return;
    }
  }
  void end(const Event& event) {
    const std::uint32_t number = event.worker;
    if (workers_[number].serial != event.serial || !workers_[number].busy) return;
    Worker& worker = workers_[number];
    worker.busy = false;
    const Run run = worker.running;
    const Deed deed = deeds_[number];
    if (worker.crashes && chance(random_) < crash_share) {
      disconnect(number, scheduler::Departure::lost);
      return later(1, {.kind = Event::Kind::joins, .worker = number});
    }
    Job* job = job_of(run.task);
    if (job == nullptr) return begin(number);
    if (deed.kind == Deed::Kind::fails) {
      (void)scheduler_.failed(run.task, worker.key, run.attempt,
                              {ErrorCode::invalid_argument, "The shader is wrong."},
                              instant(time_));
      return begin(number);
    }
    const double took = setup_.task_seconds / worker.rate;
    if (scheduler_.result({.task = run.task,
                           .worker = worker.key,
                           .attempt = run.attempt,
                           .gpu_seconds = took * deed.claims},
                          instant(time_))) {
      const Hash root = root_of(run.task, answer(worker, run.task, *job, deed));
      if (deed.wrong > 0 && !job->own) {
        ++outcome_.cheats;
        ++worker.cheated;
      }
      if (!job->own) work(1);
      job->delivered[run.task.index].push_back(number);
      const PublicKey key = worker.key;
      follow(referee_.add_result(
          {.task = run.task, .worker = key, .attempt = run.attempt, .root = root}, unix()));
      const std::array<Claim, 1> claims{
          Claim{.task = run.task, .attempt = run.attempt, .root = root}};
      follow(referee_.add_receipt(key, claims, unix()));
    }
    if (workers_[number].attacker && workers_[number].connected &&
        strategy_->leaves(time_ / 3600, workers_[number].refused))
      return leave(number);
    begin(number);
  }
  // With its stake, less what is at risk.
  void leave(std::uint32_t number) {
    Worker& worker = workers_[number];
    worker.price_of_stake =
        std::min(worker.price_of_stake, static_cast<double>(referee_.stakes().locked(worker.key)));
    replace(number);
  }
  void work(double amount) { work_[outcome_.tasks < cold_tasks ? 0 : 1] += amount; }

  // --- Checks
  bool part_is_right(const AuditWanted& wanted, std::uint32_t part) const {
    const Answer answer = answer_of(wanted.root);
    if (answer.mark != 0) return false;
    const std::uint32_t first = part * setup_.slices / wanted.parts;
    const std::uint32_t last = (part + 1) * setup_.slices / wanted.parts;
    return ((answer.wrong >> first) & run_of_ones(last - first)) == 0;
  }
  // An answer to an audit that another one of the same task has replaced counts for nothing.
  bool is_open(const TaskId& task, std::uint64_t serial) {
    const auto found = audit_serials_.find(task);
    if (found == audit_serials_.end() || found->second != serial) return false;
    audit_serials_.erase(found);
    return referee_.audit_wanted(task);
  }
  void start_audit(const AuditWanted& wanted) {
    audit_serials_[wanted.task] = ++audit_serial_;
    const bool by_workers = wanted.trusted_only && !wanted.dispute && !wanted.by_root &&
                            referee_.level(wanted.suspect, unix()) != Level::newcomer &&
                            (!setup_.verifier || verifier_waits() >= verifier_room);
    if (by_workers || !setup_.verifier) {
      if (lease_audit(wanted)) return;
    }
    if (!setup_.verifier) {
      audit_serials_.erase(wanted.task);
      follow(referee_.audited(wanted.task, {}, AuditOutcome::failed, unix()));
      return;
    }
    const std::size_t urgency = wanted.dispute                                              ? 0
                                : referee_.level(wanted.suspect, unix()) == Level::newcomer ? 1
                                                                                            : 2;
    samples_[urgency].push_back({.wanted = wanted, .since = time_, .serial = audit_serial_});
    if (referee_.level(wanted.suspect, unix()) == Level::newcomer)
      scheduler_.sample_begins(
          wanted.task, wanted.suspect,
          static_cast<double>(std::min(wanted.samples, wanted.parts)) / wanted.parts,
          instant(time_));
    if (!verifying_) verify();
  }
  [[nodiscard]] std::size_t verifier_waits() const {  // For what has standing.
    return samples_[2].size();
  }
  bool lease_audit(const AuditWanted& wanted) {
    for (int tries = 0; tries < 16 && !auditors_.empty(); ++tries) {
      const std::uint32_t number = auditors_[random_() % auditors_.size()];
      Worker& worker = workers_[number];
      if (!worker.connected || worker.key == wanted.suspect ||
          referee_.level(worker.key, unix()) == Level::newcomer ||
          std::ranges::contains(wanted.except, worker.key))
        continue;
      Job* job = job_of(wanted.task);
      if (job == nullptr) return true;
      if (std::ranges::contains(job->delivered[wanted.task.index], number)) continue;
      const bool is_right = part_is_right(wanted, wanted.part);
      const bool accomplice = workers_[number_of(wanted.suspect)].attacker;
      // An honest auditor compares with what its own device computes.
      const Answer given = answer_of(wanted.root);
      const bool as_here = job->devices_differ ? given.mark == worker.vendor : is_right;
      const bool agrees = worker.attacker ? strategy_->confirms(accomplice, is_right) : as_here;
      if (!job->own) work(1.0 / wanted.parts);
      later(setup_.task_seconds / wanted.parts / worker.rate + 0.05, {.kind = Event::Kind::audited,
                                                                      .worker = number,
                                                                      .serial = audit_serial_,
                                                                      .task = wanted.task,
                                                                      .agrees = agrees});
      return true;
    }
    return false;
  }
  void start_poll(const PollWanted& wanted) {
    const Job* job = job_of(wanted.task);
    if (job == nullptr) return;
    std::vector<std::uint32_t> able;
    for (const std::uint32_t number : auditors_) {
      const Worker& worker = workers_[number];
      if (worker.connected && referee_.level(worker.key, unix()) != Level::newcomer &&
          referee_.admissions().vendor(worker.key) == wanted.vendor &&
          !std::ranges::contains(wanted.except, worker.key))
        able.push_back(number);
    }
    const bool accomplice = workers_[number_of(wanted.suspect)].attacker;
    for (std::uint32_t i = 0; i < wanted.count; ++i) {
      if (able.empty()) {
        follow(referee_.polled(wanted.task, wanted.suspect, {}, AuditOutcome::failed, unix()));
        continue;
      }
      const std::size_t chosen = random_() % able.size();
      const std::uint32_t number = std::exchange(able[chosen], able.back());
      able.pop_back();
      const Worker& worker = workers_[number];
      // An accomplice protects its own, and convicts who it can.
      const bool agrees =
          worker.attacker ? !accomplice : !differs_here(*job, wanted.task) || worker.vendor == 0;
      if (!job->own) work(1.0 / setup_.slices);
      later(setup_.task_seconds / setup_.slices / worker.rate + 0.05, {.kind = Event::Kind::polled,
                                                                       .worker = number,
                                                                       .task = wanted.task,
                                                                       .suspect = wanted.suspect,
                                                                       .agrees = agrees});
    }
  }
  // Disputes go first.
  [[nodiscard]] std::deque<Sample>& next_line() {
    if (!samples_[0].empty()) return samples_[0];
    return samples_[1 + turns_.next(!samples_[1].empty(), !samples_[2].empty())];
  }
  void verify() {
    while (std::ranges::any_of(samples_, [](const auto& each) { return !each.empty(); })) {
      auto& line = next_line();
      Sample sample = std::move(line.front());
      line.pop_front();
      const auto open = audit_serials_.find(sample.wanted.task);
      if (open == audit_serials_.end() || open->second != sample.serial ||
          !referee_.audit_wanted(sample.wanted.task))
        continue;
      const double slices =
          static_cast<double>(std::min(sample.wanted.samples, sample.wanted.parts)) *
          setup_.slices / sample.wanted.parts;
      outcome_.sample_lag = std::max(outcome_.sample_lag, time_ - sample.since);
      if (&line == &samples_[1])
        outcome_.newcomer_lag = std::max(outcome_.newcomer_lag, time_ - sample.since);
      if (const Job* job = job_of(sample.wanted.task); job != nullptr && !job->own)
        work(slices / setup_.slices);
      if (&line != &samples_[0])
        turns_.spent(&line == &samples_[1] ? VerifierTurns::newcomers : VerifierTurns::others,
                     slices / setup_.verifier_rate);
      verifying_ = std::move(sample);
      return later(slices / setup_.verifier_rate, {.kind = Event::Kind::verified});
    }
  }
  void verified() {
    const Sample sample = *std::exchange(verifying_, std::nullopt);
    const AuditWanted& wanted = sample.wanted;
    scheduler_.sample_ends(wanted.task, wanted.suspect, scheduler::SampleQueue::Outcome::checked,
                           instant(time_));
    if (!is_open(wanted.task, sample.serial)) return verify();
    bool agrees = true;
    // Where results differ it computes a part in which they do.
    if (wanted.samples >= wanted.parts || !wanted.rivals.empty()) {
      const Answer answer = answer_of(wanted.root);
      agrees = answer.mark == 0 && answer.wrong == 0;
    } else {
      std::uint64_t drawn = std::uint64_t{1} << wanted.part;
      std::uint32_t count = 1;
      for (std::uint64_t number = 1000; count < wanted.samples; ++number) {
        const std::uint64_t bit =
            std::uint64_t{1} << draw_below(wanted.parts, referee_.secret(), Purpose::audit_part,
                                           wanted.task, wanted.suspect, number);
        count += (drawn & bit) == 0 ? 1 : 0;
        drawn |= bit;
      }
      for (std::uint32_t part = 0; part < wanted.parts; ++part) {
        if (((drawn >> part) & 1) != 0) agrees = agrees && part_is_right(wanted, part);
      }
    }
    const Worker& suspect = workers_[number_of(wanted.suspect)];
    const Job* job = job_of(wanted.task);
    if (!agrees && !suspect.attacker && job != nullptr && !job->own) ++outcome_.honest_refused;
    follow(referee_.audited(wanted.task, {}, agrees ? AuditOutcome::agrees : AuditOutcome::differs,
                            unix(), Auditor::coordinator,
                            {.devices = setup_.second_device ? Devices::two : Devices::one,
                             .vendor = "vendor 0",
                             .part = Part{.first = wanted.part, .count = 1}}));
    if (!verifying_) verify();
  }

  // --- What the referee rules
  void follow(const std::vector<Ruling>& rulings) {
    for (const Ruling& ruling : rulings) {
      std::visit(Match{[&](const Counted& counted) {
                         scheduler_.counted(counted.task, counted.worker);
                         const std::uint32_t number = number_of(counted.worker);
                         if (referee_.level(counted.worker, unix()) == Level::newcomer) {
                           workers_[number].undecided.insert(counted.task);
                           refresh(number);
                         }
                       },
                       [&](const Accepted& accepted) { accept(accepted); },
                       [&](const Refused& refused) { refuse(refused); },
                       [&](const NeedReplicas& need) {
                         scheduler_.want_replicas(need.task, need.replicas);
                       },
                       [&](const JobFailed& failed) { ended_.push_back({failed.job, true}); },
                       [&](const AuditWanted& wanted) { audits_.push_back(wanted); },
                       [&](const PollWanted& wanted) { polls_.push_back(wanted); },
                       [&](const Suspected& suspected) { suspect(suspected); },
                       [&](const Convicted& convicted) { convict(convicted); }},
                 ruling);
    }
    if (depth_ > 0) return;
    ++depth_;
    while (!audits_.empty() || !polls_.empty() || !ended_.empty() || !replaced_.empty()) {
      if (!audits_.empty()) {
        const AuditWanted wanted = std::move(audits_.front());
        audits_.pop_front();
        start_audit(wanted);
      } else if (!polls_.empty()) {
        const PollWanted wanted = std::move(polls_.front());
        polls_.pop_front();
        start_poll(wanted);
      } else if (!ended_.empty()) {
        const auto [job, failed] = ended_.front();
        ended_.pop_front();
        end_job(job, failed);
      } else {
        const std::uint32_t number = replaced_.front();
        replaced_.pop_front();
        replace(number);
      }
    }
    --depth_;
  }
  void decided(const TaskId& task, std::uint32_t number) {
    scheduler_.sample_decided(task, workers_[number].key);
    if (workers_[number].undecided.erase(task) > 0 ||
        referee_.level(workers_[number].key, unix()) != Level::newcomer)
      refresh(number);
  }
  void refuse(const Refused& refused) {
    const std::uint32_t number = number_of(refused.worker);
    if (refused.wrong) {
      ++workers_[number].refused;
      scheduler_.bar(refused.task, refused.worker);
    } else {
      (void)scheduler_.failed(refused.task, refused.worker, refused.attempt,
                              {ErrorCode::data_loss, refused.reason}, instant(time_));
    }
    decided(refused.task, number);
  }
  void accept(const Accepted& accepted) {
    Job* job = job_of(accepted.task);
    if (job == nullptr) return;
    std::vector<PublicKey> right = accepted.agreeing;
    right.insert(right.end(), accepted.jurors.begin(), accepted.jurors.end());
    scheduler_.settled(accepted.task, right);
    const Answer answer = answer_of(accepted.root);
    const bool is_wrong = answer.wrong != 0 && !job->own;
    if (!job->own) {
      ++outcome_.tasks;
      if (outcome_.tasks <= cold_tasks) ++cold_;
    }
    if (is_wrong) {
      ++outcome_.wrong;
      outcome_.wrong_all += answer.wrong == run_of_ones(setup_.slices) ? 1 : 0;
      wrong_.push_back({.time = time_, .corrected = false});
      wrong_value_ += static_cast<double>(job->value);
    }
    const double share = static_cast<double>(std::popcount(answer.wrong)) / setup_.slices;
    const auto value = static_cast<double>(job->value);
    for (const PublicKey& key : accepted.agreeing) {
      Worker& worker = workers_[number_of(key)];
      if (worker.paid.empty() || worker.paid.back().time < time_ - 60)
        worker.paid.push_back({.time = time_, .amount = 0});
      ++worker.paid.back().amount;
      if (!worker.attacker) continue;
      if (is_wrong) {
        outcome_.gained += value * share;
        worker.wrong.push_back(wrong_.size() - 1);
      }
      if (referee_.level(key, unix()) == Level::newcomer) {
        worker.held.push_back({.time = time_, .amount = value});
        while (worker.held.front().time < time_ - pay_held_seconds) worker.held.pop_front();
      }
    }
    const auto delivered = job->delivered.extract(accepted.task.index);
    if (++job->accepted == job->tasks) ended_.push_back({accepted.task.job, false});
    if (delivered.empty()) return;
    for (const std::uint32_t number : delivered.mapped()) decided(accepted.task, number);
  }
  void convict(const Convicted& convicted) {
    const std::uint32_t number = number_of(convicted.worker);
    Worker& worker = workers_[number];
    const double taken = std::min(worker.price_of_stake, static_cast<double>(convicted.penalty));
    worker.price_of_stake -= taken;
    if (!worker.attacker) {
      if (!std::exchange(worker.convicted, true)) ++outcome_.honest_convicted;
      outcome_.honest_slashed += taken;
      return refresh(number);
    }
    outcome_.slashed += taken;
    for (const Paid& paid : worker.held) {
      if (paid.time >= time_ - pay_held_seconds) outcome_.forfeited += paid.amount;
    }
    worker.held.clear();
    suspects_.convicted(worker.key);
    recheck(worker);
    refresh(number);
    if (std::exchange(worker.convicted, true)) return;
    ++outcome_.convicted;
    replaced_.push_back(number);
  }

  void suspect(const Suspected& suspected) {
    if (suspects_.suspect(suspected.worker, suspected.client, unix()))
      checking_.push_back(number_of(suspected.worker));
    // As many tasks as a client's share has room for, whether their workers go on or not.
    while (!checking_.empty()) {
      Worker& worker = workers_[checking_.front()];
      checking_.pop_front();
      const Rechecked done = recheck(worker);
      outcome_.rechecked += done.tasks;
      for (const auto& next : suspects_.computed(worker.key, done.tasks, done.wrong > 0, unix()))
        checking_.push_back(number_of(next.worker));
    }
  }
  struct Rechecked {
    std::uint32_t tasks = 0;
    std::uint32_t wrong = 0;
  };
  // What it was paid for is computed again, as far back as that goes.
  Rechecked recheck(Worker& worker) {
    Rechecked done;
    const double since = time_ - setup_.correction_hours * 3600;
    for (const Paid& each : worker.paid) {
      if (each.time >= since) done.tasks += static_cast<std::uint32_t>(each.amount);
    }
    worker.paid.clear();
    for (const std::size_t each : worker.wrong) {
      if (wrong_[each].time < since || std::exchange(wrong_[each].corrected, true)) continue;
      ++outcome_.corrected;
      ++done.wrong;
    }
    worker.wrong.clear();
    return done;
  }

  // A wrong task stays so unless its worker is found to have cheated within the time that is left.
  void project() {
    // What it takes to be convicted, as a chance for each cheat; where little is known, a 32nd.
    const double found = (outcome_.convicted + 1.0) / (static_cast<double>(outcome_.cheats) + 32);
    std::vector<double> stays(wrong_.size(), 1);
    for (const Worker& worker : workers_) {
      if (!worker.connected || worker.convicted) continue;
      const double hours = std::max((time_ - worker.joined) / 3600, 0.01);
      const double cheats_per_hour = worker.cheated / hours;
      for (const std::size_t each : worker.wrong) {
        const double left =
            std::max(0.0, setup_.correction_hours - (time_ - wrong_[each].time) / 3600);
        stays[each] *= std::pow(1 - std::min(found, 1.0), cheats_per_hour * left);
      }
    }
    for (std::size_t i = 0; i < wrong_.size(); ++i)
      outcome_.uncorrected += wrong_[i].corrected ? 0 : stays[i];
  }

  void finish() {
    project();
    outcome_.seconds = time_;
    outcome_.undecided = submitted_ + (setup_.tasks - submitted_) - outcome_.tasks;
    for (const auto& [number, job] : jobs_) {
      if (!job.own)
        outcome_.price += static_cast<double>(job.value) * job.accepted / (job.costly ? costly : 1);
    }
    if (outcome_.tasks > 0) outcome_.price /= static_cast<double>(outcome_.tasks) * 1e6;
    const auto relative = [](double done, double tasks) {
      return tasks <= 0 ? 0 : done / tasks - 1;
    };
    outcome_.extra_cold = relative(work_[0], static_cast<double>(cold_));
    outcome_.extra_warm = relative(work_[1], static_cast<double>(outcome_.tasks - cold_));
    const double unit =
        outcome_.wrong > 0 ? wrong_value_ / static_cast<double>(outcome_.wrong) : credits(1);
    outcome_.gained /= unit;
    outcome_.slashed /= unit;
    outcome_.forfeited /= unit;
    outcome_.honest_slashed /= credits(1);
  }

  static constexpr std::size_t verifier_room = 64;  // Samples that wait for the verifier.

  const Scene& setup_;
  const Plan plan_;
  const std::function<bool()>& stop_;
  const std::unique_ptr<Strategy> strategy_;
  Random random_;
  scheduler::Scheduler scheduler_;
  Referee referee_;
  std::deque<Worker> workers_;
  std::vector<std::uint32_t> auditors_;
  std::unordered_map<std::uint32_t, Deed> deeds_;
  std::unordered_map<std::uint32_t, Job> jobs_;
  std::priority_queue<Event> events_;
  std::array<std::deque<Sample>, 3> samples_;  // Disputes, of newcomers, others.
  VerifierTurns turns_;
  std::optional<Sample> verifying_;
  std::unordered_map<TaskId, std::uint64_t> audit_serials_;
  std::uint64_t audit_serial_ = 0;
  std::deque<AuditWanted> audits_;
  std::deque<PollWanted> polls_;
  std::deque<std::pair<JobId, bool>> ended_;
  std::deque<std::uint32_t> replaced_;
  Suspects suspects_;
  std::deque<std::uint32_t> checking_;
  std::vector<Wrong> wrong_;
  std::array<double, 2> work_{};
  double wrong_value_ = 0;
  std::uint64_t cold_ = 0;
  double time_ = 0;
  std::uint64_t order_ = 0;
  std::uint32_t submitted_ = 0;
  std::uint32_t open_jobs_ = 0;
  std::uint32_t jobs_started_ = 0;
  std::uint32_t honest_started_ = 0;
  std::uint32_t own_started_ = 0;
  int depth_ = 0;
  Outcome outcome_;
};

}  // namespace

std::string Outcome::json() const {
  return weft::format(
      R"({{"tasks":{},"undecided":{},"cheats":{},"wrong":{},"wrong_all":{},"corrected":{},"uncorrected":{:.3f},"uncorrected_share":{:.3e},"cost":{:.3f},"gained":{:.3f},"slashed":{:.3f},"forfeited":{:.3f},"convicted":{},"honest_convicted":{},"honest_slashed":{:.3f},"honest_refused":{},"jobs":{},"jobs_failed":{},"seconds":{:.1f},"price":{:.5f},"extra_cold":{:.4f},"extra_warm":{:.4f},"rechecked":{},"sample_lag":{:.1f},"newcomer_lag":{:.1f}}})",
      tasks, undecided, cheats, wrong, wrong_all, corrected, uncorrected, uncorrected_share(),
      cost(), gained, slashed, forfeited, convicted, honest_convicted, honest_slashed,
      honest_refused, jobs, jobs_failed, seconds, price, extra_cold, extra_warm, rechecked,
      sample_lag, newcomer_lag);
}

Outcome play(const Scene& setup, const Entry* strategy, const Plan& plan,
             const std::function<bool()>& stop) {
  return Arena(setup, strategy, plan, stop).run();
}

}  // namespace weft::trust::attacks
