// The connections that a session uses: to its worker, to the core, and to a pool.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "decisions/jobs/events.h"

namespace weft::jobs {
class Core;
}

namespace weft::coordinator {

class WorkerConnection {
 public:
  virtual ~WorkerConnection() = default;
  virtual void send_text(std::string text) = 0;
  virtual void close(std::string reason) = 0;
  // The worker is welcome: the bounds for strangers no longer apply.
  virtual void admit() {}
  // The worker is invited or established: its connection is kept even if strangers hold all others.
  virtual void recognise() {}
  // Round-trip time of the last ping; empty if no ping was answered yet.
  [[nodiscard]] virtual std::optional<Duration> round_trip() const { return std::nullopt; }
};

using CoreEvent = std::function<void(jobs::Core&, jobs::Moment)>;
// PostEvent and PostWork return false and do nothing if too much waits.
using PostEvent = std::function<bool(CoreEvent)>;
using PostWork = std::function<bool(std::function<void()>)>;

}  // namespace weft::coordinator
