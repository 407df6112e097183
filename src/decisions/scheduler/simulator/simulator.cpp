#include "decisions/scheduler/simulator/simulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <unordered_map>

#include "decisions/scheduler/scheduler.h"

namespace weft::scheduler::simulator {
namespace {

template <class Id>
Id id_of(std::uint64_t number) {
  Id id{};
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}
template <class Id>
std::uint32_t number_of(const Id& id) {
  std::uint64_t number = 0;
  std::memcpy(&number, id.bytes.data(), sizeof number);
  return static_cast<std::uint32_t>(number);
}

Instant instant(double seconds) {
  return Instant(std::chrono::hours(1)) +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

class Simulation {
 public:
  explicit Simulation(const Scenario& setup)
      : setup_(setup), scheduler_(setup.settings), machines_(setup.workers.size()) {}

  Result<Log> run() {
    scheduler_.histories().set_clock(instant(0), 0);
    for (std::size_t i = 0; i < setup_.workers.size(); ++i) {
      const SimulatedWorker& worker = setup_.workers[i];
      Worker added{.key = id_of<PublicKey>(i),
                   .slots = worker.slots,
                   .capabilities = {},
                   .sharing = worker.sharing};
      added.capabilities.memory_bytes = worker.memory_bytes;
      added.capabilities.f32_gflop_per_s = worker.rate * 1000;
      WEFT_OK(scheduler_.add_worker(added, instant(0)));
    }
    log_.jobs.resize(setup_.jobs.size());
    for (const SimulatedJob& job : setup_.jobs) log_.useful_seconds += job.tasks * job.task_seconds;

    std::size_t next_job = 0;
    while (done_ < setup_.jobs.size()) {
      // The time of the next submission, event, or deadline of the scheduler.
      double next = std::numeric_limits<double>::infinity();
      if (next_job < setup_.jobs.size()) next = setup_.jobs[next_job].at;
      if (!events_.empty()) next = std::min(next, events_.begin()->first);
      if (const auto deadline = scheduler_.next_deadline()) {
        // A microsecond is added, so that rounding never makes the present time earlier than the
        // deadline.
        next = std::min(next, std::max(seconds(*deadline - instant(0)) + 1e-6, time_));
      }
      if (!std::isfinite(next))
        return fail(ErrorCode::internal,
                    "Only {} of {} jobs are done, and no further event is left.", done_,
                    setup_.jobs.size());
      time_ = std::max(time_, next);
      while (next_job < setup_.jobs.size() && setup_.jobs[next_job].at <= time_)
        WEFT_OK(submit(next_job++));
      while (!events_.empty() && events_.begin()->first <= time_) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        happen(event);
      }
      for (const Decision& decision : scheduler_.decide(instant(time_))) act(decision);
    }
    log_.seconds = time_;
    return std::move(log_);
  }

 private:
  struct Run {
    std::uint32_t job = 0;
    std::uint32_t index = 0;
    std::uint32_t attempt = 0;
    friend auto operator<=>(const Run&, const Run&) = default;
  };
  struct Event {
    enum class Kind : std::uint8_t {
      arrives,
      ends,
      reports,
      cancelled,
      checkpoint,
      kept,
      yields
    } kind;
    std::uint32_t worker = 0;
    Run run;
    double took = 0;
    double share = 0;      // The share of the task that is done.
    bool stopped = false;  // True if the run makes way.
    bool checkpoints = false;
    std::uint64_t serial = 0;  // The run to which a checkpoint belongs.
  };
  struct Queued {
    Run run;
    bool checkpoints = false;
    double share = 0;  // The share that an earlier run has done.
  };
  struct Running {
    double began = 0;
    double rate = 1;  // Reference seconds of work a second.
    bool yields = false;
    std::uint64_t serial = 0;
  };
  struct Machine {
    std::deque<Queued> queue;
    std::map<Run, Running> running;
  };
  struct Progress {
    std::map<std::uint32_t, std::uint32_t> results;  // Number of results by open task.
    std::set<std::uint32_t> settled;
    // The stored share of each open task, by task and worker, or by task alone if states are
    // shared.
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> kept;
  };

  Result<> submit(std::size_t number) {
    const SimulatedJob& job = setup_.jobs[number];
    Job added;
    added.id = id_of<JobId>(number);
    added.requirements.memory_bytes = job.memory_bytes;
    added.priority = job.priority;
    added.tasks = job.tasks;
    added.workgroups = job.tasks;
    added.replicas = job.replicas;
    added.budget = MicroCredits{1} << 60;
    added.estimate =
        Estimate{.reference_seconds_per_workgroup = job.task_seconds, .units = 0, .price = 1};
    added.client = id_of<PublicKey>(job.client + 1);
    added.share = job.share;
    added.states_shared = job.replicas == 1;
    log_.jobs[number].first_start = -1;
    return scheduler_.add_job(added, instant(time_));
  }

  void later(double delay, Event event) { events_.emplace(time_ + delay, event); }

  void act(const Decision& decision) {
    if (const auto* lease = std::get_if<Lease>(&decision)) {
      ++log_.lease_messages;
      const std::uint32_t worker = number_of(lease->worker);
      const std::uint32_t job = number_of(lease->job);
      for (const auto& task : lease->tasks) {
        if (log_.jobs[job].first_start < 0) log_.jobs[job].first_start = time_;
        log_.starts.push_back({.at = time_, .job = job, .index = task.index, .worker = worker});
        const auto& kept = progress_[job].kept;
        const auto share = kept.find({task.index, keeper(job, worker)});
        later(setup_.latency_seconds / 2, {.kind = Event::Kind::arrives,
                                           .worker = worker,
                                           .run = {job, task.index, task.attempt},
                                           .share = share == kept.end() ? 0 : share->second,
                                           .checkpoints = lease->checkpoint_ms > 0});
      }
    } else if (const auto* cancel = std::get_if<Cancel>(&decision)) {
      for (const auto& held : cancel->tasks) {
        ++log_.cancelled;
        const Run run{number_of(held.task.job), held.task.index, held.attempt};
        later(setup_.latency_seconds / 2,
              {.kind = Event::Kind::cancelled, .worker = number_of(cancel->worker), .run = run});
      }
    } else if (const auto* yield = std::get_if<Yield>(&decision)) {
      const Run run{number_of(yield->task.task.job), yield->task.task.index, yield->task.attempt};
      later(setup_.latency_seconds / 2,
            {.kind = Event::Kind::yields, .worker = number_of(yield->worker), .run = run});
    }
  }

  void happen(const Event& event) {
    Machine& machine = machines_[event.worker];
    switch (event.kind) {
      case Event::Kind::arrives:
        machine.queue.push_back(
            {.run = event.run, .checkpoints = event.checkpoints, .share = event.share});
        return begin(event.worker);
      case Event::Kind::ends:
        if (!is_running(event)) return;  // The run was cancelled meanwhile.
        end(machine, event.run);
        later(setup_.latency_seconds / 2, {.kind = Event::Kind::reports,
                                           .worker = event.worker,
                                           .run = event.run,
                                           .took = event.took,
                                           .share = event.share});
        return begin(event.worker);
      case Event::Kind::cancelled:
        std::erase_if(machine.queue, [&](const Queued& each) { return each.run == event.run; });
        end(machine, event.run);
        return begin(event.worker);
      case Event::Kind::checkpoint: {
        if (!is_running(event)) return;
        const bool stops = machine.running.at(event.run).yields;
        later(setup_.latency_seconds / 2, {.kind = Event::Kind::kept,
                                           .worker = event.worker,
                                           .run = event.run,
                                           .share = event.share,
                                           .stopped = stops});
        if (!stops) return;
        ++log_.made_way;
        end(machine, event.run);
        return begin(event.worker);
      }
      case Event::Kind::kept:
        return keep(event);
      case Event::Kind::yields:
        if (const auto found = machine.running.find(event.run); found != machine.running.end())
          found->second.yields = true;
        return;
      case Event::Kind::reports:
        return report(event);
    }
  }

  bool is_running(const Event& event) const {
    const auto& running = machines_[event.worker].running;
    const auto found = running.find(event.run);
    return found != running.end() && found->second.serial == event.serial;
  }
  void end(Machine& machine, const Run& run) {
    const auto found = machine.running.find(run);
    if (found == machine.running.end()) return;
    log_.computed_seconds += (time_ - found->second.began) * found->second.rate;
    machine.running.erase(found);
  }

  void keep(const Event& event) {
    const TaskId task{.job = id_of<JobId>(event.run.job), .index = event.run.index};
    const auto taken = scheduler_.checkpointed({.task = task,
                                                .worker = id_of<PublicKey>(event.worker),
                                                .attempt = event.run.attempt,
                                                .done = event.share,
                                                .stopped = event.stopped},
                                               instant(time_));
    if (taken)
      progress_[event.run.job].kept[{event.run.index, keeper(event.run.job, event.worker)}] =
          event.share;
  }
  [[nodiscard]] std::uint32_t keeper(std::uint32_t job, std::uint32_t worker) const {
    return setup_.jobs[job].replicas == 1 ? 0 : worker;
  }

  void begin(std::uint32_t number) {
    Machine& machine = machines_[number];
    const SimulatedWorker& worker = setup_.workers[number];
    const bool shared = worker.sharing == Sharing::sliced;
    while (!machine.queue.empty() && (shared || machine.running.empty())) {
      const Queued next = machine.queue.front();
      const Run run = next.run;
      machine.queue.pop_front();
      // A shared worker runs each task at the speed of a worker whose slots are all busy, as
      // predicted.
      const double alone = setup_.jobs[run.job].task_seconds / worker.rate *
                           real_factor(setup_, run.job, run.index, run.attempt);
      const double whole = shared ? alone * worker.slots : alone;
      const double took = whole * (1 - next.share);
      const std::uint64_t serial = ++serial_;
      machine.running[run] = {.began = time_,
                              .rate = setup_.jobs[run.job].task_seconds / whole,
                              .yields = false,
                              .serial = serial};
      if (next.checkpoints && whole >= 20 * seconds(setup_.settings.checkpoint_min)) {
        for (int part = 1; part < 20; ++part) {
          const double share = next.share + part * 0.05;
          if (share > 0.975) break;
          later(part * 0.05 * whole, {.kind = Event::Kind::checkpoint,
                                      .worker = number,
                                      .run = run,
                                      .share = share,
                                      .serial = serial});
        }
      }
      later(took, {.kind = Event::Kind::ends,
                   .worker = number,
                   .run = run,
                   .took = took,
                   .share = next.share,
                   .serial = serial});
    }
  }

  void report(const Event& event) {
    const Run& run = event.run;
    const TaskId task{.job = id_of<JobId>(run.job), .index = run.index};
    const auto key = id_of<PublicKey>(event.worker);
    const SimulatedWorker& worker = setup_.workers[event.worker];
    const double gpu = worker.sharing == Sharing::sliced ? event.took / worker.slots : event.took;
    if (!scheduler_.result({.task = task,
                            .worker = key,
                            .attempt = run.attempt,
                            .gpu_seconds = gpu,
                            .resumed = event.share},
                           instant(time_)))
      return;  // The result is too late.
    scheduler_.counted(task, key);
    Progress& progress = progress_[run.job];
    if (++progress.results[run.index] < setup_.jobs[run.job].replicas) return;
    scheduler_.settled(task);
    progress.results.erase(run.index);
    std::erase_if(progress.kept, [&](const auto& each) { return each.first.first == run.index; });
    progress.settled.insert(run.index);
    if (progress.settled.size() < setup_.jobs[run.job].tasks) return;
    log_.jobs[run.job].at = time_;
    ++done_;
    progress_.erase(run.job);
    scheduler_.remove_job(task.job, "The job is done.");
  }

  const Scenario& setup_;
  Scheduler scheduler_;
  std::vector<Machine> machines_;
  std::unordered_map<std::uint32_t, Progress> progress_;
  // Events at the same time keep the order in which they were made.
  std::multimap<double, Event> events_;
  double time_ = 0;
  std::size_t done_ = 0;
  std::uint64_t serial_ = 0;
  Log log_;
};

}  // namespace

Result<Log> simulate(const Scenario& setup) { return Simulation(setup).run(); }

Settings Scenario::patient_settings() {
  Settings settings;
  settings.wall_max = std::chrono::hours(24);
  settings.beat = std::chrono::hours(24);
  settings.checkpoint_min = std::chrono::milliseconds(0);
  settings.leaving_risk_max = 1;  // Any risk is accepted, because no worker leaves in a simulation.
  return settings;
}

double real_factor(const Scenario& setup, std::uint32_t job, std::uint32_t index,
                   std::uint32_t attempt) {
  if (setup.spread <= 0 && setup.stalls <= 0) return 1;
  // The length of a run depends on its task only. A stall depends on the attempt, too.
  const std::uint64_t task = (setup.seed << 48) ^ (std::uint64_t{job} << 24) ^ index;
  std::mt19937_64 of_task(task * 0x9e3779b97f4a7c15U);
  std::normal_distribution<double> normal(-setup.spread * setup.spread / 2,
                                          std::max(setup.spread, 1e-12));
  double factor = setup.spread > 0 ? std::exp(normal(of_task)) : 1;
  std::mt19937_64 of_run((task + (std::uint64_t{attempt} << 56) + 1) * 0xbf58476d1ce4e5b9U);
  if (std::uniform_real_distribution<double>(0, 1)(of_run) < setup.stalls)
    factor *= setup.stall_factor;
  return factor;
}

}  // namespace weft::scheduler::simulator
