#include "apps/coordinator/ingest/retries.h"

#include <utility>

namespace weft::coordinator {

Retries::Retries(Duration after)
    : after_(after), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Retries::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Retries::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Retries::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
    changed_.wait_for(lock, stop, after_, [] { return false; });
    if (stop.stop_requested()) return;
    auto due = std::exchange(waiting_, {});
    lock.unlock();
    for (const auto& work : due) work();
    lock.lock();
  }
}

}  // namespace weft::coordinator
