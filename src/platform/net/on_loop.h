// Runs work on an event loop's thread; may be called from any thread, and keeps the order.
#pragma once

#include <functional>
#include <utility>

#include <trantor/net/EventLoop.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::net {

// The thread sanitizer does not see the atomics of the loop's queue, because trantor is built
// without instrumentation. So it is told that the work sees everything that happened before the
// handover.
#ifdef __SANITIZE_THREAD__
inline char handover;
inline void hand_over() { __tsan_release(&handover); }
inline void take_over() { __tsan_acquire(&handover); }
#else
inline void hand_over() {}
inline void take_over() {}
#endif

template <class Work>
void on_loop(trantor::EventLoop* loop, Work work) {
  std::function<void()> handed = [work = std::move(work)]() mutable {
    take_over();
    work();
  };
  hand_over();
  loop->queueInLoop(std::move(handed));
}

}  // namespace weft::net
