#include "worker/tasks/step_trace.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/manifest/step_groups.h"
#include "common/proof/merkle.h"

namespace weft::worker {

bool StateRoom::take(std::uint64_t bytes) {
  if (bytes > left_) return false;
  left_ -= bytes;
  return true;
}

StepTrace::StepTrace(const proof::StatedTask& task, const manifest::Manifest& manifest,
                     std::shared_ptr<StateRoom> room)
    : task_(task), room_(std::move(room)) {
  for (std::uint32_t group = 0; group < manifest::step_groups(manifest); ++group) {
    const manifest::StepRange steps = manifest::steps_of_group(manifest, group);
    ends_.push_back(steps.first + steps.count);
  }
  check(task_.unit == proof::StatedTask::Unit::steps && !ends_.empty() && ends_.back() == task_.of,
        "a trace is of a task with groups of steps");
}

StepTrace::~StepTrace() { room_->give(bytes_); }

std::uint32_t StepTrace::end_of_group(std::uint32_t done) const {
  const auto end = std::ranges::upper_bound(ends_, done);
  check(end != ends_.end(), "a task that runs has steps left");
  return *end;
}

void StepTrace::add(std::uint32_t done, const Outputs& outputs) {
  const auto end = std::ranges::find(ends_, done);
  if (end == ends_.end() || done == ends_.back()) return;
  const auto ended = static_cast<std::uint32_t>(end - ends_.begin()) + 1;
  check(ended == roots_.size() + 1, "groups of steps end in order");
  roots_.push_back(proof::task_root(*outputs));
  std::uint64_t bytes = 0;
  for (const ByteVector& output : *outputs) bytes += output.size();
  if (!room_->take(bytes)) return;
  bytes_ += bytes;
  kept_.emplace(ended, outputs);
}

std::optional<ByteVector> StepTrace::state_before(std::uint32_t group) const {
  const auto found = kept_.find(group);
  if (found == kept_.end()) return {};
  return proof::encode_state(task_, ends_[group - 1], *found->second);
}

}  // namespace weft::worker
