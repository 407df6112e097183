#include "platform/store/group_commit.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace weft::store {

struct GroupCommit::State {
  State(Store& to, Options chosen) : store(to), options(std::move(chosen)) {}

  void run();
  void commit_group(const std::vector<Batch>& batches, std::vector<Done> waiting);
  // Commits, and waits for space if the disk is full.
  [[nodiscard]] Result<> commit_patiently(std::span<const Batch> batches);
  [[nodiscard]] std::vector<Result<>> results_of(const std::vector<Batch>& batches,
                                                 std::uint64_t& commits);

  Store& store;
  const Options options;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Batch, Done>> queue;
  bool stopping = false;
  bool crowded = false;  // The previous group had more than one batch.
  Counts counts;
  std::thread writer;
};

void GroupCommit::State::run() {
  for (;;) {
    std::vector<Batch> batches;
    std::vector<Done> waiting;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopping || !queue.empty(); });
      if (queue.empty()) return;
      if (options.wait_max.count() > 0 && !stopping && crowded) {
        changed.wait_for(lock, options.wait_max,
                         [&] { return stopping || queue.size() >= options.group_max; });
      }
      const std::size_t count = std::min(queue.size(), options.group_max);
      for (std::size_t i = 0; i < count; ++i) {
        batches.push_back(std::move(queue.front().first));
        waiting.push_back(std::move(queue.front().second));
        queue.pop_front();
      }
      crowded = count > 1;
    }
    commit_group(batches, std::move(waiting));
  }
}

Result<> GroupCommit::State::commit_patiently(std::span<const Batch> batches) {
  bool was_full = false;
  for (bool again = false;; again = true) {
    Result<> result = store.commit_all(batches, options.before_commit);
    const bool full = !result && result.error().code == ErrorCode::resource_exhausted &&
                      options.retry_full_every.count() > 0;
    if (!full) {
      if (was_full && options.disk_full) options.disk_full(false);
      return result;
    }
    was_full = true;
    if (options.disk_full) options.disk_full(true);
    if (!again) continue;  // The first retry is immediate: disk_full() may have freed space.
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, options.retry_full_every, [&] { return stopping; })) return result;
  }
}

std::vector<Result<>> GroupCommit::State::results_of(const std::vector<Batch>& batches,
                                                     std::uint64_t& commits) {
  commits = 1;
  const Result<> all = commit_patiently(batches);
  if (all || batches.size() == 1) return std::vector(batches.size(), all);
  // A batch is invalid, so no batch of the group is stored. Each batch is now committed alone.
  std::vector<Result<>> results;
  for (const Batch& batch : batches) results.push_back(commit_patiently(std::span(&batch, 1)));
  commits += batches.size();
  return results;
}

void GroupCommit::State::commit_group(const std::vector<Batch>& batches,
                                      std::vector<Done> waiting) {
  std::uint64_t commits = 0;
  std::vector<Result<>> results = results_of(batches, commits);
  {
    // Updated before the callbacks, so that a caller that reads the counts finds its batch counted.
    const std::lock_guard lock(mutex);
    counts.batches += batches.size();
    counts.commits += commits;
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i](std::move(results[i]));
}

GroupCommit::GroupCommit(Store& store, Options options)
    : state_(std::make_unique<State>(store, std::move(options))) {
  state_->writer = std::thread([state = state_.get()] { state->run(); });
}

GroupCommit::~GroupCommit() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  state_->writer.join();
}

Result<> GroupCommit::submit(Batch batch, Done done) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->queue.size() >= state_->options.queue_max) {
      return fail(ErrorCode::resource_exhausted,
                  "{} commits wait for the disk already; --commit-queue-max raises the bound.",
                  state_->queue.size());
    }
    state_->queue.emplace_back(std::move(batch), std::move(done));
  }
  state_->changed.notify_one();
  return {};
}

Result<> GroupCommit::commit(Batch batch) {
  std::promise<Result<>> outcome;
  auto future = outcome.get_future();
  WEFT_OK(submit(std::move(batch),
                 [&outcome](Result<> result) { outcome.set_value(std::move(result)); }));
  return future.get();
}

GroupCommit::Counts GroupCommit::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

}  // namespace weft::store
