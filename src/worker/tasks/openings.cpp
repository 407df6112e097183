#include "worker/tasks/openings.h"

#include <utility>

namespace weft::worker {

void Openings::add(const TaskKey& key, Commitments::Leaves leaves,
                   std::shared_ptr<const StepTrace> steps) {
  commitments_.add(key, std::move(leaves));
  if (steps != nullptr) states_.add(key, std::move(steps));
}

void Openings::erase(const TaskKey& key) {
  commitments_.erase(key);
  states_.erase(key);
}

void Openings::clear() {
  commitments_.clear();
  states_.clear();
}

}  // namespace weft::worker
