// Repeats work that found its queue full, after a short delay; repeating it at once would occupy
// the core. Threading: any; the work runs on this object's thread and must be short. stop() drops
// the work that waits.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "common/base/clock.h"

namespace weft::coordinator {

class Retries {
 public:
  explicit Retries(Duration after = std::chrono::milliseconds(50));
  Retries(const Retries&) = delete;
  ~Retries() { stop(); }

  void post(std::function<void()> work);
  void stop();

 private:
  void run(const std::stop_token& stop);

  const Duration after_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::function<void()>> waiting_;
  std::jthread thread_;  // Declared last, because the thread uses the other members.
};

}  // namespace weft::coordinator
