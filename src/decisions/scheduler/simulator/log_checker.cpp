#include "decisions/scheduler/simulator/log_checker.h"

#include <algorithm>
#include <map>
#include <set>

#include "decisions/scheduler/score.h"

namespace weft::scheduler::simulator {
namespace {

Rank rank_in(const Scenario& setup, std::size_t number) {
  const SimulatedJob& job = setup.jobs[number];
  const auto at = Instant(std::chrono::hours(1)) +
                  std::chrono::duration_cast<Duration>(std::chrono::duration<double>(job.at));
  return rank_of({.priority = job.priority, .workgroups = job.tasks, .replicas = job.replicas}, at,
                 number + 1);
}

}  // namespace

Report check_log(const Scenario& setup, const Log& log) {
  Report report;
  // The open jobs of each client, by the memory and the time that their tasks ask for.
  using Needs = std::pair<std::uint64_t, double>;
  const auto needs_of = [&](std::size_t number) {
    return Needs(setup.jobs[number].memory_bytes, setup.jobs[number].task_seconds);
  };
  std::map<std::uint64_t, std::map<Needs, std::set<Rank>>> open;
  std::vector<Rank> ranks(setup.jobs.size());
  std::vector<std::uint32_t> left(setup.jobs.size());
  for (std::size_t i = 0; i < setup.jobs.size(); ++i) {
    ranks[i] = rank_in(setup, i);
    left[i] = setup.jobs[i].tasks;
  }
  std::vector<std::set<std::uint32_t>> started(setup.jobs.size());
  std::size_t next_job = 0;
  for (const Start& start : log.starts) {
    for (; next_job < setup.jobs.size() && setup.jobs[next_job].at <= start.at; ++next_job) {
      open[setup.jobs[next_job].client][needs_of(next_job)].insert(ranks[next_job]);
    }
    ++report.leases;
    if (!started[start.job].insert(start.index).second)
      continue;  // A copy of a task that was leased before.
    const SimulatedJob& job = setup.jobs[start.job];
    auto& of_client = open[job.client];
    const auto inverted = [&](const auto& entry) {
      const auto& [needs, waiting] = entry;
      return needs.first <= job.memory_bytes && needs.second <= job.task_seconds &&
             !waiting.empty() && *waiting.begin() < ranks[start.job];
    };
    report.inversions += std::ranges::any_of(of_client, inverted) ? 1 : 0;
    if (--left[start.job] > 0) continue;
    auto& waiting = of_client[needs_of(start.job)];
    waiting.erase(ranks[start.job]);
    if (waiting.empty()) of_client.erase(needs_of(start.job));
  }

  double rate_max = 0;
  for (const SimulatedWorker& worker : setup.workers) rate_max = std::max(rate_max, worker.rate);
  for (std::size_t i = 0; i < setup.jobs.size(); ++i) {
    const SimulatedJob& job = setup.jobs[i];
    const JobEnd& end = log.jobs[i];
    if (end.at <= 0 || end.first_start < 0) {
      ++report.unfinished;
      continue;
    }
    constexpr double bound_seconds = 10;
    const double wait = end.first_start - job.at;
    const double least = job.task_seconds / rate_max;
    const double slowdown = std::max((end.at - job.at) / std::max(least, bound_seconds), 1.0);
    report.wait_mean += wait;
    report.wait_max = std::max(report.wait_max, wait);
    report.slowdown_mean += slowdown;
    report.slowdown_max = std::max(report.slowdown_max, slowdown);
  }
  const double ended =
      std::max<double>(static_cast<double>(setup.jobs.size() - report.unfinished), 1);
  report.wait_mean /= ended;
  report.slowdown_mean /= ended;
  return report;
}

}  // namespace weft::scheduler::simulator
