#include "platform/runtime/pool.h"

#include <algorithm>

namespace weft::runtime {

Pool::Pool(Options options) : queue_max_(options.queue_max) {
  for (std::size_t i = 0; i < std::max<std::size_t>(options.threads, 1); ++i) {
    lanes_.push_back(std::make_unique<Lane>());
    Lane& lane = *lanes_.back();
    lane.thread = std::thread([&lane] {
      for (;;) {
        std::function<void()> work;
        {
          std::unique_lock lock(lane.mutex);
          lane.more.wait(lock, [&] { return lane.ending || !lane.queue.empty(); });
          if (lane.queue.empty()) return;
          work = std::move(lane.queue.front());
          lane.queue.pop_front();
        }
        work();
      }
    });
  }
}

Pool::~Pool() {
  for (auto& lane : lanes_) {
    const std::lock_guard lock(lane->mutex);
    lane->ending = true;
    lane->more.notify_one();
  }
  for (auto& lane : lanes_) lane->thread.join();
}

bool Pool::post(std::uint64_t key, std::function<void()> work) {
  Lane& lane = *lanes_[key % lanes_.size()];
  {
    const std::lock_guard lock(lane.mutex);
    if (lane.ending || lane.queue.size() >= queue_max_) return false;
    lane.queue.push_back(std::move(work));
  }
  lane.more.notify_one();  // The woken thread finds the lock free.
  return true;
}

}  // namespace weft::runtime
