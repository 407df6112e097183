#include "worker/tasks/progress.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/manifest/step_groups.h"

namespace weft::worker {
namespace {

constexpr std::uint32_t probe_share = 64;  // The first run has 1/64 of the parts.

std::size_t outputs_of(const manifest::Manifest& manifest) {
  if (manifest.kind == manifest::Kind::kernel) return 1;
  return static_cast<std::size_t>(std::ranges::count_if(
      manifest.bindings, [](const manifest::Binding& each) { return each.is_output(); }));
}

}  // namespace

Progress::Progress(const Task& task, std::shared_ptr<const exec::Job> job)
    : task_(task), job_(std::move(job)) {
  const manifest::Manifest& manifest = job_->manifest;
  if (manifest::can_cut(manifest)) {
    of_ = task_.range.count;
  } else if (manifest.kind == manifest::Kind::wgsl) {
    unit_ = Unit::steps;
    of_ = static_cast<std::uint32_t>(manifest.steps.size());
  }
}

void Progress::commit_steps(std::shared_ptr<StateRoom> room) {
  check(done_ == 0 && state_ == nullptr, "a task commits to its steps before it runs");
  if (unit_ != Unit::steps || manifest::step_groups(job_->manifest) == 0) return;
  steps_ = std::make_shared<StepTrace>(stated(), job_->manifest, std::move(room));
}

std::uint32_t Progress::run_max() const {
  return (steps_ == nullptr ? of_ : steps_->end_of_group(done_)) - done_;
}

exec::RunOptions Progress::next(std::uint32_t count) const {
  exec::RunOptions options{.range = task_.range,
                           .piece_workgroups_max = task_.piece_workgroups_max};
  const std::uint32_t parts = std::clamp(count, 1U, run_max());
  if (whole_ || parts == of_) return options;
  if (unit_ == Unit::workgroups) {
    options.range = {.first = task_.range.first + done_, .count = parts};
  } else {
    options.step_first = done_;
    options.step_count = parts;
    options.state = state_;
  }
  return options;
}

void Progress::take(std::uint32_t count, exec::Output output) {
  const std::uint32_t parts = std::clamp(count, 1U, run_max());
  if (state_ != nullptr && unit_ == Unit::workgroups) {
    check(state_->size() == output.outputs.size(), "every part gives all outputs");
    for (std::size_t i = 0; i < output.outputs.size(); ++i) append((*state_)[i], output.outputs[i]);
  } else {
    state_ = std::make_shared<std::vector<ByteVector>>(std::move(output.outputs));
  }
  done_ += parts;
  if (steps_ != nullptr) steps_->add(done_, state_);
  sums_.gpu_seconds += output.gpu_seconds;
  sums_.wall_seconds += output.wall_seconds;
  sums_.dispatches += output.dispatches;
}

void Progress::run_whole() {
  whole_ = true;
  of_ = 1;
  done_ = 0;
  resumed_ = 0;
  state_.reset();
  steps_.reset();
}

exec::Output Progress::finish() {
  check(complete() && state_ != nullptr, "a task that ends was run");
  sums_.outputs = std::move(*state_);
  return std::move(sums_);
}

std::vector<std::uint64_t> Progress::state_bytes(std::uint32_t done) const {
  manifest::Range range = task_.range;
  if (unit_ == Unit::workgroups) range.count = done;
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < outputs_of(job_->manifest); ++i)
    sizes.push_back(manifest::output_extent(job_->manifest, i, range).size);
  return sizes;
}

proof::StatedTask Progress::stated() const {
  return {.id = task_.id,
          .manifest = task_.manifest,
          .first = task_.range.first,
          .count = task_.range.count,
          .unit = unit_,
          .of = of_};
}

ByteVector Progress::checkpoint() const {
  return proof::encode_state(stated(), done_,
                             state_ == nullptr ? std::span<const ByteVector>() : *state_);
}

Result<> Progress::resume(ByteSpan bytes) {
  check(done_ == 0 && state_ == nullptr, "a task resumes before it runs");
  WEFT_ASSIGN(const proof::TaskState saved, proof::decode_state(bytes));
  if (saved.task != stated())
    return fail(ErrorCode::data_loss, "The checkpoint is of another task.");
  const auto size_of = [](ByteSpan output) { return std::uint64_t{output.size()}; };
  if (!std::ranges::equal(saved.outputs, state_bytes(saved.done), {}, size_of))
    return fail(ErrorCode::data_loss, "The checkpoint does not have the task's outputs.");
  state_ = std::make_shared<std::vector<ByteVector>>();
  for (const ByteSpan output : saved.outputs) state_->emplace_back(output.begin(), output.end());
  done_ = saved.done;
  resumed_ = done_;
  steps_.reset();
  return {};
}

std::uint32_t parts_for(const Progress& progress, double each, double target) {
  const std::uint32_t left = progress.run_max();
  if (each <= 0) return std::clamp(progress.of() / probe_share, 1U, left);
  if (left * each <= 1.5 * target) return left;
  return static_cast<std::uint32_t>(std::clamp(target / each, 1.0, static_cast<double>(left)));
}

}  // namespace weft::worker
