#include "decisions/scheduler/simulator/baselines.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <map>

namespace weft::scheduler::simulator {
namespace {

struct Task {
  std::uint32_t job = 0;
  std::uint32_t index = 0;
};
struct Running {
  double predicted_end = 0;
  double end = 0;
  std::uint64_t memory = 0;
  std::uint32_t job = 0;
};

class Queue {
 public:
  Queue(Baseline baseline, const Scenario& setup)
      : baseline_(baseline),
        setup_(setup),
        machines_(setup.workers.size()),
        left_(setup.jobs.size()) {
    log_.jobs.resize(setup.jobs.size());
    for (std::size_t i = 0; i < setup.jobs.size(); ++i) {
      left_[i] = setup.jobs[i].tasks;
      log_.jobs[i].first_start = -1;
      log_.useful_seconds += setup.jobs[i].tasks * setup.jobs[i].task_seconds;
    }
  }

  Log run() {
    std::size_t next_job = 0;
    std::size_t done = 0;
    while (done < setup_.jobs.size()) {
      double next = std::numeric_limits<double>::infinity();
      if (next_job < setup_.jobs.size()) next = setup_.jobs[next_job].at;
      for (const auto& machine : machines_) {
        for (const Running& each : machine) next = std::min(next, each.end);
      }
      time_ = std::max(time_, next);
      for (; next_job < setup_.jobs.size() && setup_.jobs[next_job].at <= time_; ++next_job) {
        for (std::uint32_t i = 0; i < setup_.jobs[next_job].tasks; ++i)
          waiting_.push_back({static_cast<std::uint32_t>(next_job), i});
      }
      for (auto& machine : machines_) {
        std::erase_if(machine, [&](const Running& each) {
          if (each.end > time_) return false;
          if (--left_[each.job] == 0) {
            log_.jobs[each.job].at = time_;
            ++done;
          }
          return true;
        });
      }
      schedule();
    }
    log_.seconds = time_;
    return std::move(log_);
  }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  [[nodiscard]] std::uint64_t memory_of(const Task& task) const {
    return setup_.jobs[task.job].memory_bytes;
  }
  [[nodiscard]] double predicted(const Task& task, std::size_t machine) const {
    return setup_.jobs[task.job].task_seconds / setup_.workers[machine].rate *
           setup_.workers[machine].slots;
  }
  [[nodiscard]] bool fits_at(std::size_t machine, std::uint64_t memory, double when,
                             std::uint64_t extra_memory, std::size_t extra_count) const {
    std::uint64_t used = memory + extra_memory;
    std::size_t count = 1 + extra_count;
    for (const Running& each : machines_[machine]) {
      if (each.predicted_end <= when && when > time_) continue;
      used += each.memory;
      ++count;
    }
    return used <= setup_.workers[machine].memory_bytes && count <= setup_.workers[machine].slots;
  }
  // The machine with the fewest running tasks on which the task may start now.
  std::size_t place(const Task& task, std::size_t reserved, double shadow,
                    std::uint64_t head_memory) const {
    std::size_t best = nowhere;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (!fits_at(i, memory_of(task), time_, 0, 0)) continue;
      if (i == reserved && time_ + predicted(task, i) > shadow &&
          !fits_at(i, memory_of(task), shadow, head_memory, 1))
        continue;
      if (best == nowhere || machines_[i].size() < machines_[best].size()) best = i;
    }
    return best;
  }
  void start(const Task& task, std::size_t machine) {
    const double takes = predicted(task, machine);
    machines_[machine].push_back(
        {.predicted_end = time_ + takes,
         .end = time_ + takes * real_factor(setup_, task.job, task.index, 1),
         .memory = memory_of(task),
         .job = task.job});
    if (log_.jobs[task.job].first_start < 0) log_.jobs[task.job].first_start = time_;
    log_.starts.push_back({.at = time_,
                           .job = task.job,
                           .index = task.index,
                           .worker = static_cast<std::uint32_t>(machine)});
    ++log_.lease_messages;
  }
  void schedule() {
    std::size_t reserved = nowhere;
    double shadow = 0;
    std::uint64_t head_memory = 0;
    for (auto task = waiting_.begin(); task != waiting_.end();) {
      if (const std::size_t machine = place(*task, reserved, shadow, head_memory);
          machine != nowhere) {
        start(*task, machine);
        task = waiting_.erase(task);
        continue;
      }
      if (baseline_ == Baseline::fifo) return;
      if (reserved == nowhere) {
        head_memory = memory_of(*task);
        shadow = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < machines_.size(); ++i) {
          for (const Running& each : machines_[i]) {
            const double when = std::max(each.predicted_end, time_ + 1e-9);
            if (when < shadow && fits_at(i, head_memory, when, 0, 0)) {
              shadow = when;
              reserved = i;
            }
          }
        }
      }
      ++task;
    }
  }

  const Baseline baseline_;
  const Scenario& setup_;
  std::vector<std::vector<Running>> machines_;
  std::vector<std::uint32_t> left_;  // Remaining tasks of each job.
  std::list<Task> waiting_;
  double time_ = 0;
  Log log_;
};

}  // namespace

Result<Log> run_baseline(Baseline baseline, const Scenario& setup) {
  std::uint64_t memory_max = 0;
  for (const SimulatedWorker& worker : setup.workers) {
    if (worker.sharing != Sharing::sliced)
      return fail(ErrorCode::invalid_argument, "A baseline runs on shared workers only.");
    memory_max = std::max(memory_max, worker.memory_bytes);
  }
  for (const SimulatedJob& job : setup.jobs) {
    if (job.replicas != 1 || job.memory_bytes > memory_max)
      return fail(ErrorCode::invalid_argument,
                  "A baseline runs only jobs of one replica that fit into a worker's memory.");
  }
  return Queue(baseline, setup).run();
}

}  // namespace weft::scheduler::simulator
