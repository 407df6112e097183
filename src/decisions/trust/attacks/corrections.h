// Wrong tasks that were accepted in a simulated run, and those that are computed again: of workers
// that are convicted, and of suspects as far as a client's share of the verifier's time goes
// (decisions/trust/suspects.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "decisions/trust/attacks/roster.h"
#include "decisions/trust/suspects.h"

namespace weft::trust::attacks {

class Corrections {
 public:
  Corrections(ArenaContext& context, Roster& roster) : context_(context), roster_(roster) {}

  // A wrong task was accepted now. Gives its place in SimulatedWorker::wrong.
  [[nodiscard]] std::size_t add_wrong();
  // Computes the tasks of the worker again, and of workers that waited for it.
  void suspect(const Suspected& suspected);
  void convicted(SimulatedWorker& worker);

  [[nodiscard]] std::uint64_t corrected() const { return corrected_; }
  // Tasks of suspects that were computed again.
  [[nodiscard]] std::uint64_t rechecked() const { return rechecked_; }
  // Wrong tasks that stay so: unless their worker is found to have cheated within the time that is
  // left, if it goes on as it did. `found`: how often a cheat leads to a conviction.
  [[nodiscard]] double uncorrected(double found) const;

 private:
  struct Wrong {
    double time = 0;
    bool corrected = false;
  };
  struct Rechecked {
    std::uint32_t tasks = 0;
    std::uint32_t wrong = 0;
  };
  // What the worker was paid for is computed again, as far back as that goes.
  Rechecked recheck(SimulatedWorker& worker);

  ArenaContext& context_;
  Roster& roster_;
  Suspects suspects_;
  std::deque<std::uint32_t> checking_;
  std::vector<Wrong> wrong_;
  std::uint64_t corrected_ = 0;
  std::uint64_t rechecked_ = 0;
};

}  // namespace weft::trust::attacks
