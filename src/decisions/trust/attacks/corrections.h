// Counts the wrong tasks that were accepted in a simulated run, and computes tasks again: those of
// workers that are convicted, and those of suspects within each client's limit
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

  // Call it when a wrong task is accepted, at the current time. Returns its index, for
  // SimulatedWorker::wrong.
  [[nodiscard]] std::size_t add_wrong();
  // Computes the tasks of the suspected worker again, then those of suspects that had to wait for
  // the client's limit.
  void suspect(const Suspected& suspected);
  void convicted(SimulatedWorker& worker);

  [[nodiscard]] std::uint64_t corrected() const { return corrected_; }
  // The number of suspects' tasks that were computed again.
  [[nodiscard]] std::uint64_t rechecked() const { return rechecked_; }
  // Returns the expected number of wrong tasks that stay uncorrected. A task is corrected if its
  // worker, cheating at its rate so far, is convicted within the time that is left for corrections.
  // `found` is the probability that one cheat leads to a conviction.
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
  // Computes the paid tasks of the worker again, as far back as Scene::correction_hours.
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
