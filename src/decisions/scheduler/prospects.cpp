// How a task would fare on a worker: how long it takes there, and whether the worker will still be
// there.
#include <algorithm>

#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr std::size_t acquaintances_max =
    100'000;                            // Those who left longest ago are forgotten first.
constexpr double brief_seconds = 0.25;  // A connected worker is assumed to stay for so long.

}  // namespace

double Scheduler::State::predicted_seconds(const WorkerState& worker, const JobState& job,
                                           std::uint32_t index) const {
  const double alone = job.pace * job.range_count(index) / worker.rate;
  return worker.sliced() ? alone * worker.info.slots : alone;  // With all slots busy.
}

Duration Scheduler::State::wall_bound(const WorkerState& worker) const {
  return worker.sliced() ? settings.wall_max * std::max(worker.info.slots, 1U) : settings.wall_max;
}

UnixMillis Scheduler::State::unix_at(Instant now) const {
  return clock_unix + std::chrono::duration_cast<std::chrono::milliseconds>(now - clock_at).count();
}

void Scheduler::State::arrives(WorkerState& worker, Instant now) {
  Acquaintance& known = acquaintances[worker.info.key];
  departed.erase(std::exchange(known.seen, 0));
  known.trusted = !worker.newcomer();
  known.presence.arrived(unix_at(now));
  worker.presence = &known.presence;
}

void Scheduler::State::departs(WorkerState& worker, Instant now) {
  Acquaintance& known = acquaintances.at(worker.info.key);
  known.presence.left(unix_at(now));
  known.seen = next_departure++;
  departed[known.seen] = worker.info.key;
  moved.push_back(worker.info.key);
  while (departed.size() > acquaintances_max) {
    forgotten.push_back(departed.begin()->second);
    acquaintances.erase(departed.begin()->second);
    departed.erase(departed.begin());
  }
}

double Scheduler::State::prospect(const WorkerState& worker, const JobState& job,
                                  std::uint32_t index, Instant now) const {
  const double takes = predicted_seconds(worker, job, index);
  if (takes > seconds(wall_bound(worker))) return 0;
  const double until_done = takes + (worker.sliced() ? 0 : worker.load_seconds);
  return until_done < brief_seconds ? 1 : worker.presence->stays(unix_at(now), until_done);
}

bool Scheduler::State::suits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                             Instant now) const {
  return prospect(worker, job, index, now) >= 1 - settings.leaving_risk_max;
}

}  // namespace weft::scheduler
