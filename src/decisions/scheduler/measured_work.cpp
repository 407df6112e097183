#include "decisions/scheduler/measured_work.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<Pace> MeasuredWork::add(const Pace& pace) {
  std::vector<Pace> forgotten;
  if (!std::isfinite(pace.seconds) || pace.seconds <= 0) return forgotten;
  Work& work = works_[pace.work];
  std::erase_if(work.paces, [&](const Pace& each) { return each.worker == pace.worker; });
  work.paces.push_back(pace);
  if (work.paces.size() > measurements_max) {
    forgotten.push_back(work.paces.front());
    work.paces.erase(work.paces.begin());
  }
  by_age_.erase(work.latest);
  work.latest = {pace.time, pace.work};
  by_age_.insert(work.latest);
  if (works_.size() > works_max) {
    const Hash oldest = by_age_.begin()->second;
    by_age_.erase(by_age_.begin());
    const auto found = works_.find(oldest);
    forgotten.insert(forgotten.end(), found->second.paces.begin(), found->second.paces.end());
    works_.erase(found);
  }
  return forgotten;
}

std::vector<double> MeasuredWork::paces_of(const Hash& work) const {
  const auto found = works_.find(work);
  if (found == works_.end()) return {};
  const auto those = [&](bool alone) {
    std::vector<double> seconds;
    for (const Pace& each : found->second.paces) {
      if (each.alone == alone) seconds.push_back(each.seconds);
    }
    return seconds;
  };
  if (auto known = those(true); !known.empty()) return known;
  auto measured = those(false);
  if (measured.size() < established_min) measured.clear();
  return measured;
}

std::optional<double> MeasuredWork::pace_of(const Hash& work) const {
  auto known = paces_of(work);
  if (known.empty()) return std::nullopt;
  return lower_median(std::move(known));
}

}  // namespace weft::scheduler
