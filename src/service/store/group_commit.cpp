#include "service/store/group_commit.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace weft::store {

struct GroupCommit::State {
  struct Item {
    Batch batch;
    Done done;
  };

  State(Store& to, Options chosen) : store(to), options(chosen) {}

  void run();
  void commit_group(std::vector<Item> group);

  Store& store;
  const Options options;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> queue;
  bool stopping = false;
  bool crowded = false;  // The last group had company.
  Counts counts;
  std::thread writer;
};

void GroupCommit::State::run() {
  for (;;) {
    std::vector<Item> group;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopping || !queue.empty(); });
      if (queue.empty()) return;
      if (options.wait_max.count() > 0 && !stopping && crowded) {
        changed.wait_for(lock, options.wait_max, [&] { return stopping || queue.size() >= options.group_max; });
      }
      const auto count = static_cast<std::ptrdiff_t>(std::min(queue.size(), options.group_max));
      group.assign(std::make_move_iterator(queue.begin()), std::make_move_iterator(queue.begin() + count));
      queue.erase(queue.begin(), queue.begin() + count);
      crowded = count > 1;
    }
    commit_group(std::move(group));
  }
}

void GroupCommit::State::commit_group(std::vector<Item> group) {
  std::vector<Result<>> results;
  std::uint64_t commits = 1;
  const Result<> ready = options.before_commit ? options.before_commit() : Result<>();
  if (!ready) {
    commits = 0;
    results.assign(group.size(), ready);
  } else if (group.size() == 1) {
    results.push_back(store.commit(group.front().batch));
  } else {
    Batch merged;
    for (const Item& item : group) merged.merge(Batch(item.batch));
    if (store.commit(merged)) {
      results.resize(group.size());
    } else {
      // One of them is at fault, and nothing of the group is stored: each for itself.
      for (const Item& item : group) results.push_back(store.commit(item.batch));
      commits += group.size();
    }
  }
  {
    // Before anybody hears of it, so that who does finds it counted.
    const std::lock_guard lock(mutex);
    counts.batches += group.size();
    counts.commits += commits;
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i].done(std::move(results[i]));
}

GroupCommit::GroupCommit(Store& store, Options options) : state_(std::make_unique<State>(store, options)) {
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
      return fail(ErrorCode::resource_exhausted, "{} commits wait for the disk already; --commit-queue-max raises the bound.", state_->queue.size());
    }
    state_->queue.push_back({std::move(batch), std::move(done)});
  }
  state_->changed.notify_one();
  return {};
}

Result<> GroupCommit::commit(Batch batch) {
  std::promise<Result<>> outcome;
  auto future = outcome.get_future();
  WEFT_OK(submit(std::move(batch), [&outcome](Result<> result) { outcome.set_value(std::move(result)); }));
  return future.get();
}

GroupCommit::Counts GroupCommit::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

}  // namespace weft::store
