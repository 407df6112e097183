// The rests of a worker between two parts of its work, which limit its work to a share of the time.
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
    Duration told_min{};  // The shortest rest whose start is reported to on_rest.
    std::function<void(bool rests)> on_rest{};  // Called for such starts, and each end of a rest.
  };
  // `ended` is called after each rest.
  Rests(Host& host, Options options, std::function<void()> ended);

  [[nodiscard]] bool resting() const { return resting_; }
  // Sets the share of the time that is spent on work, in (0, 1]. Ends a rest that is under way.
  void throttle(double share);
  // Starts a rest, if one is due, after this time of work.
  void after(Duration worked);
  // Prevents all further rests.
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
