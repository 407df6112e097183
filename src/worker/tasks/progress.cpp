#include "worker/tasks/progress.h"

#include <algorithm>
#include <utility>

#include "common/base/byte_reader.h"
#include "common/base/check.h"

namespace weft::worker {
namespace {

constexpr std::string_view magic = "weftckp1";
constexpr std::uint32_t probe_share = 64;  // The first parts are one in so many.

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

exec::RunOptions Progress::next(std::uint32_t count) const {
  exec::RunOptions options{.range = task_.range,
                           .piece_workgroups_max = task_.piece_workgroups_max};
  const std::uint32_t parts = std::clamp(count, 1U, of_ - done_);
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
  const std::uint32_t parts = std::clamp(count, 1U, of_ - done_);
  if (state_ != nullptr && unit_ == Unit::workgroups) {
    check(state_->size() == output.outputs.size(), "every part gives all outputs");
    for (std::size_t i = 0; i < output.outputs.size(); ++i) append((*state_)[i], output.outputs[i]);
  } else {
    state_ = std::make_shared<std::vector<ByteVector>>(std::move(output.outputs));
  }
  done_ += parts;
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

ByteVector Progress::checkpoint() const {
  ByteVector out;
  append(out, as_bytes(magic));
  append(out, task_.id.job.span());
  append_le(out, task_.id.index);
  append(out, task_.manifest.span());
  append_le(out, task_.range.first);
  append_le(out, task_.range.count);
  append_le(out, static_cast<std::uint32_t>(unit_));
  append_le(out, done_);
  append_le(out, of_);
  append_le(out, static_cast<std::uint32_t>(state_ == nullptr ? 0 : state_->size()));
  for (std::size_t i = 0; state_ != nullptr && i < state_->size(); ++i) {
    append_le(out, static_cast<std::uint64_t>((*state_)[i].size()));
    append(out, (*state_)[i]);
  }
  return out;
}

Result<> Progress::resume(ByteSpan bytes) {
  check(done_ == 0 && state_ == nullptr, "a task resumes before it runs");
  ByteReader in(bytes);
  const auto foreign = [](std::string_view what) {
    return fail(ErrorCode::data_loss, "The checkpoint {}.", what);
  };
  if (!std::ranges::equal(in.take(magic.size()), as_bytes(magic)))
    return foreign("does not begin like a checkpoint");
  const bool ours = std::ranges::equal(in.take(JobId::size), task_.id.job.span()) &&
                    in.integer<std::uint32_t>() == task_.id.index &&
                    std::ranges::equal(in.take(Hash::size), task_.manifest.span()) &&
                    in.integer<std::uint32_t>() == task_.range.first &&
                    in.integer<std::uint32_t>() == task_.range.count &&
                    in.integer<std::uint32_t>() == static_cast<std::uint32_t>(unit_);
  if (!ours) return foreign("is of another task");
  const std::uint64_t done = in.integer<std::uint32_t>();
  if (in.integer<std::uint32_t>() != of_ || done == 0 || done >= of_)
    return foreign("holds no part of the task");
  const std::vector<std::uint64_t> sizes = state_bytes(static_cast<std::uint32_t>(done));
  if (in.integer<std::uint32_t>() != sizes.size())
    return foreign("does not have the task's outputs");
  auto state = std::make_shared<std::vector<ByteVector>>();
  for (const std::uint64_t size : sizes) {
    if (in.integer<std::uint64_t>() != size) return foreign("has an output of another size");
    const ByteSpan taken = in.take(size);
    state->emplace_back(taken.begin(), taken.end());
  }
  if (!in.at_end()) return foreign("is not whole");
  state_ = std::move(state);
  done_ = static_cast<std::uint32_t>(done);
  resumed_ = done_;
  return {};
}

std::uint32_t parts_for(const Progress& progress, double each, double target) {
  const std::uint32_t left = progress.of() - progress.done();
  if (each <= 0) return std::clamp(progress.of() / probe_share, 1U, left);
  if (left * each <= 1.5 * target) return left;
  return static_cast<std::uint32_t>(std::clamp(target / each, 1.0, static_cast<double>(left)));
}

}  // namespace weft::worker
