// Commits the batches of many events with one fsync. A writer thread takes whatever waits, commits
// it together, and tells all callers. While one commit is on its way to the disk the next group
// gathers by itself; `wait_max` additionally holds a group open for company where the last one had
// some: under load a larger group writes fewer pages and syncs for each batch, and a lone caller
// never waits.
//
// Threading: submit() from any thread. Callbacks run on the writer thread, in the order of
// submission, after the fsync. Where a group is refused, its batches are committed one by one, so
// that only the one at fault fails. A full disk is waited for; where that never ends, the
// destructor gives up, and what waits fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "common/base/result.h"
#include "platform/store/store.h"

namespace weft::store {

class GroupCommit {
 public:
  using Done = std::move_only_function<void(Result<>)>;
  struct Options {
    std::chrono::microseconds wait_max{0};  // At most 2 ms.
    std::size_t queue_max = 16384;          // Batches that wait; --commit-queue-max.
    std::size_t group_max = 1024;           // Batches in one commit.
    // What else must be durable before a commit that may speak of it: asked on the writer thread
    // when a group is written and is to be committed. Where it fails so do the group's batches.
    std::function<Result<>()> before_commit = {};
    // A disk that is full (resource_exhausted) fails no batch: the group waits and is tried again
    // this often. 0: it fails at once.
    std::chrono::milliseconds retry_full_every{250};
    // Hears of each time that the disk is full, and once (false) when a group gets through again:
    // on the writer thread. Room that it makes is used at once.
    std::function<void(bool full)> disk_full = {};
  };

  // `store` outlives it. The writer thread starts here.
  GroupCommit(Store& store, Options options);
  GroupCommit(const GroupCommit&) = delete;
  // Commits what waits, calls every callback, then joins the thread.
  ~GroupCommit();

  // resource_exhausted if queue_max batches wait already, and then `done` is never called.
  [[nodiscard]] Result<> submit(Batch batch, Done done);
  // The same and waits for it. Not from a callback.
  [[nodiscard]] Result<> commit(Batch batch);

  struct Counts {
    std::uint64_t batches = 0;
    std::uint64_t commits = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::store
