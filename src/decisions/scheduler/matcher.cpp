#include "decisions/scheduler/matcher.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decisions/scheduler/canary_rules.h"

namespace weft::scheduler {
namespace {

class MatchPass {
 public:
  MatchPass(SchedulerTables& tables, WorkerChoice& choice, Instant now)
      : tables_(tables), choice_(choice), now_(now) {}

  void run();

 private:
  using Phase = RequirementClass::Phase;
  // The job of a class's queue that is looked at next.
  struct Front {
    Rank rank;
    RequirementClass* of = nullptr;
    Phase phase = RequirementClass::open;
    bool operator<(const Front& other) const {
      return std::pair(rank, phase) < std::pair(other.rank, other.phase);
    }
  };
  enum class Takers : std::uint8_t { some, none, none_of_class };

  void advance(RequirementClass& of, Phase phase, const Rank* after);
  // Takes the marked workers out of the agenda, to offer them jobs whose rank comes after `after`.
  void take_workers(const Rank* after);
  void give_all(JobState& job);
  void look_at(const Front& front);
  // Says if one of the candidates could take a task of the job. Removes candidates without room.
  [[nodiscard]] Takers takers(std::vector<WorkerState*>& candidates, JobState& job);

  SchedulerTables& tables_;
  WorkerChoice& choice_;
  Instant now_;
  // The changed workers that have room, by class.
  std::unordered_map<RequirementClass*, std::vector<WorkerState*>> hands_;
  std::set<Front> fronts_;  // A rank belongs to one job and so to one front.
};

void MatchPass::advance(RequirementClass& of, Phase phase, const Rank* after) {
  const auto& needing = of.needing[phase];
  const auto next = after != nullptr ? needing.upper_bound(*after) : needing.begin();
  if (next != needing.end()) fronts_.insert({.rank = next->first, .of = &of, .phase = phase});
}

void MatchPass::take_workers(const Rank* after) {
  // A set of addresses has no fixed order, which does not matter because the fronts are sorted.
  std::set<RequirementClass*> touched;
  for (const auto& [sequence, worker] : tables_.agenda.take_workers()) {
    if (!worker->free_key) continue;
    for (RequirementClass* each : worker->classes) {
      std::vector<WorkerState*>& hand = hands_[each];
      if (after == nullptr || !std::ranges::contains(hand, worker)) hand.push_back(worker);
      touched.insert(each);
    }
  }
  for (RequirementClass* of : touched) {
    advance(*of, RequirementClass::canary, after);
    advance(*of, RequirementClass::scouts, after);
    advance(*of, RequirementClass::open, after);
  }
}

void MatchPass::give_all(JobState& job) {
  const Rank rank = job.rank;
  while (choice_.give(job, now_)) {
    if (job.rank == rank) continue;
    // The lease has moved the job back in the queue, so other jobs come before it now.
    tables_.agenda.put_back(job);
    break;
  }
  if (tables_.agenda.has_workers()) take_workers(&rank);
}

MatchPass::Takers MatchPass::takers(std::vector<WorkerState*>& candidates, JobState& job) {
  const bool only_natives = waits_for_native(job);
  bool free_taker = false;
  for (std::size_t i = candidates.size(); i-- > 0;) {
    WorkerState* worker = candidates[i];
    if (!worker->free_key) {
      candidates[i] = candidates.back();  // It was looked at already.
      candidates.pop_back();
      continue;
    }
    if (only_natives && !worker->native()) continue;
    if (job.canary == CanaryState::leased && !worker->running.empty()) continue;
    free_taker = true;
    if (choice_.takes(*worker, job, now_)) return Takers::some;
  }
  // `free_taker` is false if no candidate is a native worker, or none is idle. All jobs in this
  // queue (canaries or scouts) need such a worker, so no candidate can take the rest of the queue.
  return (only_natives || job.canary == CanaryState::leased) && !free_taker ? Takers::none_of_class
                                                                            : Takers::none;
}

void MatchPass::look_at(const Front& front) {
  auto& candidates = hands_.at(front.of);
  const auto found = front.of->needing[front.phase].find(front.rank);
  if (found != front.of->needing[front.phase].end()) {
    switch (takers(candidates, *found->second)) {
      case Takers::some:
        give_all(*found->second);
        break;
      case Takers::none:
        break;
      case Takers::none_of_class:
        return;
    }
  }
  if (!candidates.empty()) advance(*front.of, front.phase, &front.rank);
}

void MatchPass::run() {
  tables_.agenda.begin_pass();
  take_workers(nullptr);
  for (const JobState* first = tables_.agenda.first(); first != nullptr || !fronts_.empty();
       first = tables_.agenda.first()) {
    if (fronts_.empty() || (first != nullptr && first->rank <= fronts_.begin()->rank)) {
      give_all(tables_.agenda.take_first());
      continue;
    }
    const Front front = *fronts_.begin();
    fronts_.erase(fronts_.begin());
    look_at(front);
  }
}

}  // namespace

void match(SchedulerTables& tables, WorkerChoice& choice, Instant now) {
  MatchPass(tables, choice, now).run();
}

}  // namespace weft::scheduler
