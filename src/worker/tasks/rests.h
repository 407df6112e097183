// When the worker rests between two parts of its work, so that it uses a share of the time.
//
// Threading and lifetime: the session's thread; may be destroyed during a rest.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/clock.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/host.h"

namespace weft::worker {

class Rests {
 public:
  struct Options {
    Duration told_min{};                        // A longer rest is told,
    std::function<void(bool rests)> on_rest{};  // to this, and each end of a rest.
  };
  // `ended` is called after each rest.
  Rests(Host& host, Options options, std::function<void()> ended);

  [[nodiscard]] bool resting() const { return resting_; }
  // Share of the time spent on work, in (0, 1]. A rest under way is over.
  void throttle(double share);
  // So long was worked just now.
  void after(Duration worked);
  // No rest begins from now on.
  void stop() { stopped_ = true; }

 private:
  void end();

  Host& host_;
  const Options options_;
  std::function<void()> ended_;
  double share_ = 1;
  bool resting_ = false;
  bool stopped_ = false;
  std::uint64_t rests_ = 0;
  Alive alive_;
};

}  // namespace weft::worker
