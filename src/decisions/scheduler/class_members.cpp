#include "decisions/scheduler/class_members.h"

#include <algorithm>

namespace weft::scheduler {
namespace {

// True if the worker accepts a price that no worker in `floors` accepts.
bool was_last(const PriceFloors (&floors)[2], const WorkerState& worker) {
  const auto left = floors[worker.side()].least();
  return !left || *left > worker.info.price_min;
}

}  // namespace

void ClassMembers::enter(WorkerState& worker) {
  if (worker.info.slots > 0) count(worker, 1);
  parts_.listings.list(worker);
  tables_.agenda.mark(worker);
}

void ClassMembers::count(WorkerState& worker, int change) {
  if (worker.newcomer()) tables_.workers.count_newcomer(worker.info.prefix, change);
  for (RequirementClass* each : worker.classes) {
    // The operator's device may measure a job's canary once a member accepts the job's price. So
    // the job is looked at again for the first such member.
    if (change > 0)
      for (auto& [rank, job] : each->needing[RequirementClass::canary])
        if (job->able() == 0) tables_.agenda.mark(*job);
    each->members[worker.side()] += static_cast<std::size_t>(change);
    each->floors[worker.side()].add(worker.info.price_min, change);
    if (!each->has_members()) each->empty_since = tables_.latest;
    if (worker.newcomer()) continue;
    each->trusted[worker.side()] += static_cast<std::size_t>(change);
    each->trusted_floors[worker.side()].add(worker.info.price_min, change);
    each->trusted_rates = each->trusted[0] + each->trusted[1] == 0
                              ? 0
                              // Without members the sum is set to exactly 0, because differences of
                              // sums have rounding errors.
                              : each->trusted_rates + change * worker.rate;
  }
}

void ClassMembers::set_slots(WorkerState& worker, std::uint32_t slots) {
  const int change = static_cast<int>(slots > 0) - static_cast<int>(worker.info.slots > 0);
  if (change != 0) count(worker, change);
  worker.info.slots = slots;
  worker.full_at = 0;
  if (slots == 0) parts_.long_runs.release_reservations(worker);
  if (slots == 0 && worker.promised != nullptr) parts_.promises.withdraw(*worker.promised);
  parts_.listings.list(worker);
  tables_.agenda.mark(worker);
  if (change >= 0) return;
  for (RequirementClass* each : worker.classes) {
    if (!worker.newcomer() && was_last(each->trusted_floors, worker)) trusted_gone(*each);
    // If the last native worker of a class has gone, a canary may go to a browser.
    if (!was_last(each->floors, worker)) continue;
    for (auto& [rank, job] : each->needing[RequirementClass::canary]) tables_.agenda.mark(*job);
  }
}

void ClassMembers::set_standing(WorkerState& worker, Standing standing) {
  if (worker.info.standing == standing) return;
  const bool counted = worker.info.slots > 0;
  const bool was_trusted = !worker.newcomer();
  if (counted) count(worker, -1);
  worker.info.standing = standing;
  tables_.histories.set_trusted(worker.info.key, !worker.newcomer());
  worker.ranks_last = worker.newcomer() && tables_.settings.safeguards.newcomers_rank_last;
  if (counted) count(worker, 1);
  parts_.listings.list(worker);
  tables_.agenda.mark(worker);
  if (!counted || !was_trusted || !worker.newcomer()) return;
  for (RequirementClass* each : worker.classes) {
    if (was_last(each->trusted_floors, worker)) trusted_gone(*each);
  }
}

void ClassMembers::trusted_gone(RequirementClass& of) {
  for (auto& phase : of.needing) {
    for (auto& [rank, job] : phase) {
      job->passed.clear();
      job->canary_wanted = false;
      tables_.agenda.mark(*job);
    }
  }
}

double ClassMembers::assumed_rate() const {
  constexpr double least_known = 0.1;  // The rate of a small GPU.
  std::vector<double> rates;
  for (const auto& [sequence, worker] : tables_.workers.in_order()) {
    if (worker->info.standing == Standing::invited || worker->rate != worker->rate_said)
      rates.push_back(worker->rate);
  }
  if (rates.empty()) return least_known;
  const auto quarter = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 4);
  std::ranges::nth_element(rates, quarter);
  return *quarter;
}

void ClassMembers::set_rate(WorkerState& worker, double rate) {
  if (worker.info.slots > 0 && !worker.newcomer()) {
    for (RequirementClass* each : worker.classes) each->trusted_rates += rate - worker.rate;
  }
  worker.rate = rate;
}

}  // namespace weft::scheduler
