// Threads for what takes long and needs no state: signatures, hashes, blobs, joins. Work with one
// key runs in order, on one thread; different keys run beside each other.
//
// Threading: post() from any. Lifetime: the destructor finishes what is queued. Bounds: queue_max
// items a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "platform/runtime/event_queue.h"

namespace weft::runtime {

class Pool {
 public:
  struct Options {
    std::size_t threads = 2;
    std::size_t queue_max = 16384;
  };
  explicit Pool(Options options);
  Pool(const Pool&) = delete;
  ~Pool();

  // False if the queue is full: the work is dropped, and the caller should be told to try again.
  [[nodiscard]] bool post(std::uint64_t key, std::function<void()> work);

 private:
  struct Lane {
    explicit Lane(std::size_t queue_max) : queue(queue_max) {}
    EventQueue<std::function<void()>> queue;
    std::thread thread;
  };
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace weft::runtime
