#include "decisions/scheduler/preemption_requests.h"

#include <algorithm>
#include <ranges>

namespace weft::scheduler {

void PreemptionRequests::add(const TaskId& task, const PublicKey& worker, const JobId& urgent) {
  asked_[{task, worker}] = urgent;
}

void PreemptionRequests::end(const TaskId& task, const PublicKey& worker) {
  asked_.erase({task, worker});
}

void PreemptionRequests::end(const TaskId& task) {
  auto each = asked_.lower_bound({task, PublicKey{}});
  while (each != asked_.end() && each->first.first == task) each = asked_.erase(each);
}

void PreemptionRequests::end_for(const JobId& urgent) {
  std::erase_if(asked_, [&](const auto& each) { return each.second == urgent; });
}

std::size_t PreemptionRequests::count_for(const JobId& urgent) const {
  return static_cast<std::size_t>(std::ranges::count(asked_ | std::views::values, urgent));
}

}  // namespace weft::scheduler
