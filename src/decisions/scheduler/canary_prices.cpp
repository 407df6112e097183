#include "decisions/scheduler/canary_prices.h"

#include <algorithm>

#include "decisions/scheduler/measured_work.h"

namespace weft::scheduler {
namespace {

constexpr std::size_t paces_max = 3;
// The price that was shown first changes only if the median of three measurements differs from it
// by more than this factor.
constexpr double apart_max = 1.25;

bool has_measured(std::span<const std::pair<PublicKey, double>> paces, const PublicKey& worker) {
  return std::ranges::contains(paces, worker, &std::pair<PublicKey, double>::first);
}

}  // namespace

Estimate CanaryPrices::priced(const JobState& job, std::span<const double> own) const {
  std::vector<double> paces = job.spec.paces_known;
  paces.insert(paces.end(), own.begin(), own.end());
  const double pace = lower_median(std::move(paces));
  Pricing pricing = tables_.settings.pricing;
  pricing.per_unit = job.per_unit;
  const Estimate made = estimate(
      {.workgroups = job.spec.workgroups, .tasks = job.spec.tasks, .replicas = job.spec.replicas},
      pace, pricing);
  return agreed(made, job.price_terms());
}

// Corrects the measured pace by the rate that the worker's accepted work has shown.
void CanaryPrices::note(JobState& job, const Measurement& measurement, const WorkerState& by) {
  const double pace = reference_seconds_per_workgroup(measurement) * by.rate / by.rate_said;
  if (job.paces.size() < paces_max && !has_measured(job.paces, by.info.key)) {
    job.paces.emplace_back(by.info.key, pace);
    tables_.out.push_back(Measured{
        .job = job.spec.id, .by = by.info.key, .seconds_per_workgroup = pace, .alone = false});
  }
}

bool CanaryPrices::another_measures(const JobState& job) const {
  if (job.paces.size() >= paces_max) return false;
  const bool has_task = job.fresh < job.spec.tasks || !job.open.empty();
  return has_task && std::ranges::any_of(tables_.workers.in_order(), [&](const auto& each) {
           const WorkerState& worker = *each.second;
           return !worker.newcomer() && worker.info.slots > 0 &&
                  worker.info.price_min <= job.per_unit &&
                  !has_measured(job.paces, worker.info.key) &&
                  !std::ranges::contains(job.barred, worker.info.key) &&
                  std::ranges::contains(worker.classes, job.requirements);
         });
}

bool CanaryPrices::leaves_canary(const WorkerState& worker, const JobState& job) const {
  return job.canary != CanaryState::passed && !job.paces.empty() &&
         has_measured(job.paces, worker.info.key) && another_measures(job);
}

void CanaryPrices::reprice(JobState& job, const Measurement& measurement, const WorkerState& by) {
  if (!by.established() || job.paces.empty() || job.paces.size() >= paces_max ||
      job.canary != CanaryState::passed)
    return;
  note(job, measurement, by);
  if (job.paces.size() < paces_max || !job.spec.estimate) return;
  const Estimate made = priced(job, values_of(job.paces));
  const double was = static_cast<double>(job.spec.estimate->price);
  const double is = static_cast<double>(made.price);
  if (made.price > most_of(job.price_terms()) || std::max(was, is) <= apart_max * std::min(was, is))
    return;
  job.spec.estimate = made;
  tables_.out.push_back(Estimated{.job = job.spec.id, .estimate = made});
}

}  // namespace weft::scheduler
