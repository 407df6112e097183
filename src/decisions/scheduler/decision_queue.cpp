#include "decisions/scheduler/decision_queue.h"

namespace weft::scheduler {

void DecisionQueue::lease(std::uint64_t worker, const JobId& job,
                          const std::function<Lease()>& made, const protocol::LeasedTask& task) {
  const auto [place, is_new] = leases_.try_emplace({worker, job}, decisions_.size());
  if (is_new) decisions_.emplace_back(made());
  std::get<Lease>(decisions_[place->second]).tasks.push_back(task);
}

std::vector<Decision> DecisionQueue::take() {
  leases_.clear();
  return std::exchange(decisions_, {});
}

}  // namespace weft::scheduler
