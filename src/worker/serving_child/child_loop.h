// The event loop of the process that serves models: it handles frames of its parent, timers, and
// work from other threads.
//
// Threading: post() from any thread; everything else on the thread that made the loop and calls
// run(). The process ends with the parent: run() returns when the socket closes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "worker/serving_child/messages.h"

namespace weft::worker {

class ChildLoop {
 public:
  explicit ChildLoop(int socket);
  ChildLoop(const ChildLoop&) = delete;
  ~ChildLoop();

  // Passes each frame to `take` until the parent closes the socket.
  void run(const std::function<void(Frame)>& take);

  void post(std::function<void()> work);
  void after(Duration delay, std::function<void()> work);
  // Runs work after the frames that have arrived were handled.
  void next_turn(std::function<void()> work);
  // Sends a frame; blocks until the parent has room. Does nothing if the parent has closed the
  // socket, which ends run().
  void send(ServingFrame kind, ByteSpan payload);
  // Waits for the first frame that `fits`; earlier frames are passed to `take` later. Fails with
  // unavailable if the parent has closed the socket.
  [[nodiscard]] Result<Frame> wait_for(const std::function<bool(const Frame&)>& fits);
  // Returns the oldest open file that came with a frame, which the caller closes; -1 if there is
  // none.
  [[nodiscard]] int take_file();

 private:
  // Waits for the parent, for a wake-up or until the time, and reads what has arrived. Returns
  // false if the parent has closed the socket.
  bool wait(std::optional<Instant> until);
  bool receive();
  void run_due();
  void run_posted();

  const int socket_;
  int wake_read_ = -1;
  int wake_write_ = -1;
  const std::unique_ptr<std::uint8_t[]> scratch_;  // The buffer of one read.
  ByteVector in_;                                  // The bytes of a frame that is not complete yet.
  std::deque<Frame> frames_;
  std::deque<int> files_;
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<std::function<void()>> turns_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // Guarded by mutex_.
  bool gone_ = false;
};

}  // namespace weft::worker
