// The coordinator's threads beside the core's: what clients ask for, what is handed in, and what
// running jobs need. Joins and comparisons of results have threads of their own, so that jobs end
// however many clients read.
//
// Threading: the pools are safe from any thread; end_*() and the destructor belong to one.
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
    bool joins_apart = true;  // Off only in tests: readers keep joins waiting then.
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

  runtime::Pool& checks() { return *checks_; }    // What workers hand in.
  runtime::Pool& readers() { return *readers_; }  // What clients ask for.
  runtime::Pool& joins() { return joins_ ? *joins_ : *readers_; }
  runtime::Pool& submitters() { return *submitters_; }  // Submissions, with the shader checker.

  // Those that hand events to the core end before its loop, the others after it.
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
