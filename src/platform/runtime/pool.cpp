#include "platform/runtime/pool.h"

#include <algorithm>
#include <optional>

namespace weft::runtime {

Pool::Pool(Options options) {
  for (std::size_t i = 0; i < std::max<std::size_t>(options.threads, 1); ++i) {
    lanes_.push_back(std::make_unique<Lane>(options.queue_max));
    Lane& lane = *lanes_.back();
    lane.thread = std::thread([&lane] {
      std::vector<std::function<void()>> work;
      for (bool ended = false; !ended; work.clear()) {
        ended = lane.queue.take(work, std::nullopt, 1);
        for (const auto& one : work) one();
      }
    });
  }
}

Pool::~Pool() {
  for (auto& lane : lanes_) lane->queue.end();
  for (auto& lane : lanes_) lane->thread.join();
}

bool Pool::post(std::uint64_t key, std::function<void()> work) {
  return lanes_[key % lanes_.size()]->queue.post(std::move(work));
}

}  // namespace weft::runtime
