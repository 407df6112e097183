// The connection to a worker, and the ways to the core and to a pool, that a session speaks with.
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
  // The worker is welcome: the bounds of strangers count no more.
  virtual void admit() {}
  // It is invited or established: its connection keeps its place where strangers hold all others.
  virtual void recognise() {}
  // Round trip of the last ping; nothing if none was answered yet.
  [[nodiscard]] virtual std::optional<Duration> round_trip() const { return std::nullopt; }
};

using CoreEvent = std::function<void(jobs::Core&, jobs::Moment)>;
// False, and nothing is done, if too much waits.
using PostEvent = std::function<bool(CoreEvent)>;
using PostWork = std::function<bool(std::function<void()>)>;

}  // namespace weft::coordinator
