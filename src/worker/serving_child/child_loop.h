// The event loop of the process that serves models: frames of its parent, timers, work that other
// threads hand in.
//
// Threading: post() from anywhere; everything else on the thread that made it and calls run().
// Everything ends with the parent: run() returns when the socket closes.
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

  // Gives each frame to `take` until the parent is gone.
  void run(const std::function<void(Frame)>& take);

  void post(std::function<void()> work);
  void after(Duration delay, std::function<void()> work);
  // As soon as the frames that are there have been looked at.
  void next_turn(std::function<void()> work);
  // Waits until the parent has room for it. Nothing happens if the parent is gone: run() sees it.
  void send(ServingFrame kind, ByteSpan payload);
  // Waits for the first frame that `fits`; those that come before it are given to `take` later.
  // unavailable if the parent is gone.
  [[nodiscard]] Result<Frame> wait_for(const std::function<bool(const Frame&)>& fits);
  // The oldest open file that came with a frame; the caller closes it. -1: none came.
  [[nodiscard]] int take_file();

 private:
  // Waits for the parent, the wake or the time; reads what is there. False if the parent is gone.
  bool wait(std::optional<Instant> until);
  bool receive();
  void run_due();
  void run_posted();

  const int socket_;
  int wake_read_ = -1;
  int wake_write_ = -1;
  const std::unique_ptr<std::uint8_t[]> scratch_;  // What one read takes.
  ByteVector in_;                                  // Bytes of frames that are not whole.
  std::deque<Frame> frames_;
  std::deque<int> files_;
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<std::function<void()>> turns_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // Under mutex_.
  bool gone_ = false;
};

}  // namespace weft::worker
