// A thread for calls that take long, so that the caller's thread can send and receive meanwhile.
//
// Threading: run() on the caller's thread, on which `post` runs work. Lifetime: the destructor
// waits for the running call. Queued calls are dropped, and coroutines that await them are not
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
  using Post = std::function<void(std::function<void()>)>;  // Runs the work on the caller's thread.

  explicit CallThread(Post post);
  CallThread(const CallThread&) = delete;
  ~CallThread();

  // Makes calls in the order in which they were queued.
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
