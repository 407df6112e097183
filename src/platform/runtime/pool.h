// Threads for work that takes long and needs no state: signatures, hashes, blobs, joins. Work items
// with the same key run in order on one thread; items with different keys may run at the same time.
//
// Threading: post() may be called from any thread. Lifetime: the destructor finishes the queued
// work. Bounds: queue_max items for each thread.
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

  // Returns false if the queue is full: the work is dropped, and the caller should be told to try
  // again.
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
