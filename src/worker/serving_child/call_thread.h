// A thread on which calls are made that take long, so that the thread that wants them made can hear
// and speak meanwhile.
//
// Threading: run() on the caller's thread, which `post` leads back to. Lifetime: the destructor
// waits for the call that is being made; those that wait are dropped, and who awaits them is not
// resumed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "common/base/async.h"

namespace weft::worker {

class CallThread {
 public:
  using Post = std::function<void(std::function<void()>)>;  // To the caller's thread.

  explicit CallThread(Post post);
  CallThread(const CallThread&) = delete;
  ~CallThread();

  // Calls in the order in which they were handed in.
  [[nodiscard]] Async<> run(std::function<void()> call);

 private:
  void serve();

  const Post post_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> calls_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace weft::worker
