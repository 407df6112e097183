#include "decisions/scheduler/waiting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "common/base/counted.h"
#include "common/base/format.h"
#include "decisions/scheduler/canary_rules.h"
#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr std::size_t tasks_looked_at_max = 4;  // Tasks of one job.

std::string in_words(double seconds) {
  return seconds < 10 ? weft::format("{:.1f} s", seconds) : weft::format("{:.0f} s", seconds);
}

std::string expected(const Waiting& waiting, std::string_view what) {
  return waiting.seconds ? weft::format(" {} in {}.", what, in_words(*waiting.seconds)) : "";
}

std::string listed(const std::vector<Waiting::Lack>& lacks) {
  std::string text;
  for (const Waiting::Lack& lack : lacks)
    text += weft::format("{}{} ({} {} not)", text.empty() ? "" : ", ", lack.what, lack.workers,
                         lack.workers == 1 ? "has" : "have");
  return text;
}

}  // namespace

std::string_view to_string(WaitReason reason) {
  constexpr std::array words{"no-workers", "requirements", "price",     "wallets",    "too-slow",
                             "retry",      "canary",       "own-state", "checks",     "patience",
                             "memory",     "promised",     "reserved",  "making-way", "busy"};
  return words.at(static_cast<std::size_t>(reason));
}

std::string sentence(const Waiting& waiting) {
  const std::string able = counted(waiting.able, "worker");
  switch (waiting.reason) {
    case WaitReason::no_workers:
      if (waiting.connected == 0) return "No worker is connected.";
      return weft::format("{} {} connected, and none takes tasks now.",
                          counted(waiting.connected, "worker"),
                          waiting.connected == 1 ? "is" : "are");
    case WaitReason::requirements:
      return weft::format("None of {} has all that the job requires: {}.",
                          counted(waiting.connected - waiting.paused, "worker"),
                          listed(waiting.lacks));
    case WaitReason::price:
      return weft::format(
          "None of {} that can run it accepts its price of {:.6f} credits a unit; the least that "
          "one accepts is {:.6f}.",
          able, static_cast<double>(waiting.per_unit) / 1e6,
          static_cast<double>(waiting.accepted) / 1e6);
    case WaitReason::wallets:
      return weft::format(
          "Each of its {} replicas goes to another wallet's worker: {} placed, and {} in all can "
          "run it.",
          waiting.replicas, waiting.placed, able);
    case WaitReason::too_slow:
      return weft::format(
          "It would take {} on the fastest of {}, and may take {}: with more tasks, each of them "
          "is shorter.",
          in_words(waiting.seconds.value_or(0)), able, in_words(waiting.seconds_max));
    case WaitReason::retry:
      return "It failed wherever it can run." + expected(waiting, "It is tried there again");
    case WaitReason::canary:
      return weft::format("Task {} runs first, to show what the job's tasks take.", waiting.index);
    case WaitReason::own_state:
      return "It made way for a more urgent task, and its worker alone can continue where it was." +
             expected(waiting, "Another begins it from the start");
    case WaitReason::checks:
      return "Only workers without standing are free, and they get no tasks now: their results "
             "would "
             "wait too long for a check.";
    case WaitReason::patience:
      return "Every free worker is too slow or is likely to leave before its end; a better worker "
             "may get free." +
             expected(waiting, "It waits no longer than");
    case WaitReason::memory:
      return weft::format("No room is left for it in the memory of those that are free, of {}.",
                          able);
    case WaitReason::promised:
      return "The room that is left is promised to a task that comes first.";
    case WaitReason::reserved:
      return "Room is reserved for it on a worker." + expected(waiting, "It is expected");
    case WaitReason::making_way:
      return "A task of less worth was asked to make way for it at its next checkpoint.";
    case WaitReason::busy:
      break;
  }
  std::string text = weft::format("{} that can run it {} enough to do.",
                                  waiting.able == 1 ? "The worker" : weft::format("All {}", able),
                                  waiting.able == 1 ? "has" : "have");
  text += expected(waiting, "The first is expected to be free");
  if (waiting.position > 1)
    text += weft::format(" {} {} first.", counted(waiting.position - 1, "job"),
                         waiting.position == 2 ? "comes" : "come");
  if (waiting.position == 0)
    text += weft::format(" More than {} jobs come first.", Waiting::position_max);
  if (waiting.lead_seconds > 0)
    text += weft::format(" Its client has had {} more than its share of the network.",
                         in_words(waiting.lead_seconds));
  return text;
}

// What match() looks at, in the same order, over all workers instead of those that are free.
std::optional<Waiting> Scheduler::State::why_waits(const JobState& job, std::uint32_t index,
                                                   Instant now) const {
  const auto known = job.tasks.find(index);
  const TaskState* const task = known == job.tasks.end() ? nullptr : &known->second;
  Waiting made{.index = index, .lacks = {}, .seconds = {}};
  made.replicas = task != nullptr ? task->wanted + task->copies
                                  : (job.spec.replicas_first == 0 ? job.spec.replicas
                                                                  : job.spec.replicas_first);
  made.placed = task != nullptr ? static_cast<std::uint32_t>(task->replicas.size()) : 0;

  const bool natives_only = waits_for_native(job);
  std::uint32_t others = 0;    // Able, without a replica of it,
  std::uint32_t asked = 0;     // and asked now: a canary goes to native workers first.
  std::uint32_t retrying = 0;  // Among those:
  std::uint32_t slow = 0;
  std::uint32_t no_memory = 0;
  std::uint32_t promised_away = 0;
  std::uint32_t unchecked = 0;
  std::uint32_t free = 0;
  std::optional<Instant> retry_at;
  double fastest = std::numeric_limits<double>::infinity();
  std::map<std::string, std::uint32_t> lacks;
  const bool no_worker_fits = job.requirements->members[0] + job.requirements->members[1] == 0;
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (worker->gone) continue;
    ++made.connected;
    if (worker->info.slots == 0) {
      ++made.paused;
      continue;
    }
    if (no_worker_fits) {
      for (std::string& what : lacking(worker->info, job.requirements->key))
        ++lacks[std::move(what)];
      continue;
    }
    if (!std::ranges::contains(worker->classes, job.requirements)) continue;
    ++made.able;
    if (worker->info.price_min > job.per_unit) {
      made.accepted = made.accepted == 0 ? worker->info.price_min
                                         : std::min(made.accepted, worker->info.price_min);
      continue;
    }
    if (task != nullptr &&
        std::ranges::contains(task->replicas, worker->info.key, &ReplicaOf::worker))
      continue;
    ++others;
    if (natives_only && !worker->native()) continue;
    ++asked;
    if (task != nullptr &&
        long_runs_.is_reserved_for_other(job.task_id(index), *task, worker->info.key))
      continue;
    if (task != nullptr) {
      const auto failure = std::ranges::find(task->failures, worker->info.key, &FailureOn::worker);
      if (failure != task->failures.end() && failure->retry_at > now) {
        ++retrying;
        retry_at = retry_at ? std::min(*retry_at, failure->retry_at) : failure->retry_at;
        continue;
      }
    }
    const double takes = prospects_.predicted_seconds(*worker, job, index);
    if (takes > seconds(prospects_.wall_bound(*worker))) ++slow;
    if (takes < fastest) {
      fastest = takes;
      made.seconds_max = seconds(prospects_.wall_bound(*worker));
    }
    if (!worker->free_key) continue;
    if (samples_.is_late(*worker, job, now)) {
      ++unchecked;
      continue;
    }
    if (worker->sliced() && !promises_.has_memory(*worker, job)) {
      ++no_memory;
    } else if (!promises_.admits(*worker, job, index, now)) {
      ++promised_away;
    } else {
      ++free;
    }
  }

  const auto because = [&](WaitReason reason, std::optional<double> after = {}) {
    made.reason = reason;
    if (after) made.seconds = std::max(*after, 0.0);
    return made;
  };
  if (made.connected == made.paused) return because(WaitReason::no_workers);
  if (no_worker_fits) {
    for (auto& [what, count] : lacks) made.lacks.push_back({.what = what, .workers = count});
    std::ranges::stable_sort(made.lacks, std::greater(), &Waiting::Lack::workers);
    return because(WaitReason::requirements);
  }
  made.per_unit = job.per_unit;
  if (job.able() == 0) return because(WaitReason::price);
  if (made.placed + others < made.replicas) return because(WaitReason::wallets);
  if (retrying == asked && retry_at) return because(WaitReason::retry, seconds(*retry_at - now));
  if (const auto until = tables_.resume_reservations.ends(job.task_id(index)); until && free == 0)
    return because(WaitReason::own_state, seconds(*until - now));
  if (asked > retrying && slow == asked - retrying) return because(WaitReason::too_slow, fastest);
  if (tables_.preemption_requests.count_for(job.spec.id) > 0)
    return because(WaitReason::making_way);
  if (job.promised != nullptr)
    return because(WaitReason::reserved, seconds(job.promised->promise.start - now));
  if (free > 0) {
    if (!job.patient_until || *job.patient_until <= now) return {};  // It is about to go there.
    return because(WaitReason::patience, seconds(*job.patient_until - now));
  }
  if (promised_away > 0) return because(WaitReason::promised);
  if (unchecked > 0) return because(WaitReason::checks);
  if (no_memory > 0) return because(WaitReason::memory);
  const auto& queue = job.requirements->needing[job.listed_phase];
  made.position = 1;
  for (auto at = queue.begin(); at != queue.end() && at->first < job.rank; ++at) {
    if (++made.position <= Waiting::position_max) continue;
    made.position = 0;
    break;
  }
  made.lead_seconds = seconds(tables_.clients.shares().lead(job.spec.client, now));
  const Duration soonest = prospects_.starts_in(job, now);
  return because(WaitReason::busy,
                 soonest == Duration::max() ? std::nullopt : std::optional(seconds(soonest)));
}

std::optional<Waiting> Scheduler::waiting(const JobId& id, Instant now) const {
  const JobState* const job = state_->tables_.jobs.find(id);
  if (job == nullptr) return {};
  if (job->open.empty() && job->next_fresh() == job->spec.tasks)
    return {};  // All that is left of it is under way.
  if (job->canary == CanaryState::leased) {
    return Waiting{.reason = WaitReason::canary,
                   .index = job->canary_index.value_or(0),
                   .lacks = {},
                   .seconds = {}};
  }
  if (job->canary != CanaryState::passed && job->canary_index)
    return state_->why_waits(*job, *job->canary_index, now);
  std::vector<std::uint32_t> indices;
  for (auto each = job->open.begin();
       each != job->open.end() && indices.size() < tasks_looked_at_max; ++each)
    indices.push_back(each->second);
  if (const std::uint32_t fresh = job->next_fresh(); fresh < job->spec.tasks)
    indices.push_back(fresh);
  std::optional<Waiting> nearest;
  for (const std::uint32_t index : indices) {
    auto found = state_->why_waits(*job, index, now);
    if (!found) return {};
    if (!nearest || found->reason > nearest->reason) nearest = std::move(found);
    if (nearest->reason == WaitReason::busy) break;
  }
  return nearest;
}

}  // namespace weft::scheduler
