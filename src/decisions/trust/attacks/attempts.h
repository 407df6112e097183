// Attempts at tasks in a simulated run: workers run their leases, honestly or by the attacker's
// strategy, and hand in the results.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "decisions/trust/attacks/arena_context.h"
#include "decisions/trust/attacks/open_jobs.h"
#include "decisions/trust/attacks/roster.h"
#include "decisions/trust/attacks/simulated_answer.h"
#include "decisions/trust/attacks/work_done.h"

namespace weft::trust::attacks {

class Attempts {
 public:
  struct Parts {
    ArenaContext& context;
    Roster& roster;
    OpenJobs& jobs;
    WorkDone& work;
    RulingsSink& rulings;
  };
  explicit Attempts(const Parts& parts) : parts_(parts) {}

  // Call it when the worker has got a lease, which may be a trap.
  void leased(std::uint32_t number, const LeasedRun& run);
  void cancelled(std::uint32_t number, const TaskId& task);
  // The worker runs the next task of its queue, if it is idle.
  void begin(std::uint32_t number);
  // Handles an event of the kind `ends`: a worker's task has ended.
  void ended(const Event& event);

  // The number of wrong answers that were handed in to honest clients.
  [[nodiscard]] std::uint64_t cheats() const { return cheats_; }
  // The attackers' share of the results that established workers handed in to honest clients.
  [[nodiscard]] double established_share() const {
    return established_ == 0 ? 0
                             : static_cast<double>(attackers_) / static_cast<double>(established_);
  }

 private:
  [[nodiscard]] Deed deed_of(const SimulatedWorker& worker, const SimulatedJob& job, bool canary);
  [[nodiscard]] Answer answer(const SimulatedWorker& worker, const TaskId& task,
                              const SimulatedJob& job, const Deed& deed) const;
  void hand_in(std::uint32_t number, const LeasedRun& run, SimulatedJob& job, const Deed& deed);

  Parts parts_;
  // The deed that each worker does in its current task.
  std::unordered_map<std::uint32_t, Deed> deeds_;
  std::uint64_t cheats_ = 0;
  std::uint64_t established_ = 0;  // Results of established workers to honest clients.
  std::uint64_t attackers_ = 0;    // Those of `established_` that attackers handed in.
};

}  // namespace weft::trust::attacks
