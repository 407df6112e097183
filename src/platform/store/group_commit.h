// Commits the batches of many events with one fsync. A writer thread takes all waiting batches,
// commits them together, and calls all callers back. While a commit is being written, the next
// group gathers. `wait_max` additionally holds a group open if the previous group had more than one
// batch: under load a larger group writes fewer pages and syncs for each batch, and a lone caller
// never waits.
//
// Threading: submit() may be called from any thread. Callbacks run on the writer thread, in the
// order of submission, after the fsync. If a group is refused, its batches are committed one by
// one, so that only the invalid batch fails. If the disk is full, the writer waits until it has
// space again; if it stays full, the destructor gives up and the waiting batches fail.
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
    std::chrono::microseconds wait_max{0};  // Must be at most 2 ms.
    std::size_t queue_max = 16384;          // The most waiting batches (--commit-queue-max).
    std::size_t group_max = 1024;           // The most batches in one commit.
    // Makes other data durable to which the commit may refer. Called on the writer thread after a
    // group was written and before the group is committed. If it fails, the group's batches fail.
    std::function<Result<>()> before_commit = {};
    // A full disk (resource_exhausted) fails no batch: the group waits and is tried again after
    // this time. 0: the group fails at once.
    std::chrono::milliseconds retry_full_every{250};
    // Called on the writer thread with true each time that the disk is full, and once with false
    // when a group is committed again. Space that the callee frees is used at once.
    std::function<void(bool full)> disk_full = {};
  };

  // Starts the writer thread. `store` must outlive this object.
  GroupCommit(Store& store, Options options);
  GroupCommit(const GroupCommit&) = delete;
  // Commits the waiting batches, calls every callback, then joins the thread.
  ~GroupCommit();

  // Fails with resource_exhausted if queue_max batches wait already; `done` is then never called.
  [[nodiscard]] Result<> submit(Batch batch, Done done);
  // Submits a batch and waits for its commit. Must not be called from a callback.
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
