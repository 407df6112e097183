// The coordinator's threads beside the core's: for requests of clients, for messages and results of
// workers, and for joins. Joins and comparisons of results have threads of their own, so that many
// reading clients cannot delay the end of jobs.
//
// Threading: the pools are safe from any thread; end_*() and the destructor must be called by one
// thread.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "platform/runtime/pool.h"

namespace weft::coordinator {

class WorkPools {
 public:
  struct Settings {
    bool joins_apart = true;  // False only in tests: joins then wait for readers.
    std::size_t queue_max = runtime::Pool::Options().queue_max;
  };
  explicit WorkPools(Settings settings) {
    const std::size_t cores = std::max(2U, std::thread::hardware_concurrency());
    checks_.emplace(runtime::Pool::Options{.threads = cores});
    readers_.emplace(runtime::Pool::Options{.threads = 2, .queue_max = settings.queue_max});
    if (settings.joins_apart)
      joins_.emplace(runtime::Pool::Options{.threads = 2, .queue_max = settings.queue_max});
    submitters_.emplace(runtime::Pool::Options{.threads = 4, .queue_max = 1024});
  }

  runtime::Pool& checks() { return *checks_; }    // Threads that check messages of workers.
  runtime::Pool& readers() { return *readers_; }  // Threads that read for clients.
  runtime::Pool& joins() { return joins_ ? *joins_ : *readers_; }
  // Threads that check submissions and shaders.
  runtime::Pool& submitters() { return *submitters_; }

  // Ends the pools that post events to the core. They must end before the core's loop; joins and
  // readers end after it.
  void end_before_loop() {
    submitters_.reset();
    checks_.reset();
  }
  void end_after_loop() {
    joins_.reset();
    readers_.reset();
  }

 private:
  std::optional<runtime::Pool> checks_, readers_, joins_, submitters_;
};

}  // namespace weft::coordinator
