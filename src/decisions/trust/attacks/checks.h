// Checks of results in a simulated run: samples that wait for the coordinator's verifier, parts
// that workers audit, and polls of workers of one vendor.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "decisions/trust/attacks/arena_context.h"
#include "decisions/trust/attacks/open_jobs.h"
#include "decisions/trust/attacks/roster.h"
#include "decisions/trust/attacks/work_done.h"
#include "decisions/trust/verifier_turns.h"

namespace weft::trust::attacks {

class Checks {
 public:
  struct Parts {
    ArenaContext& context;
    Roster& roster;
    OpenJobs& jobs;
    WorkDone& work;
    RulingsSink& rulings;
  };
  explicit Checks(const Parts& parts) : parts_(parts) {}

  void start_audit(const AuditWanted& wanted);
  void start_poll(const PollWanted& wanted);

  // These three handle events of the kinds Event::Kind::verified, ::audited and ::polled.
  void verified();
  void audited(const Event& event);
  void polled(const Event& event);

  // The number of right answers of honest workers that the verifier refused.
  [[nodiscard]] std::uint64_t honest_refused() const { return honest_refused_; }
  // The longest wait of a sample, in seconds.
  [[nodiscard]] double sample_lag() const { return sample_lag_; }
  // Longest wait of a newcomer's sample, in seconds.
  [[nodiscard]] double newcomer_lag() const { return newcomer_lag_; }

 private:
  struct Sample {
    AuditWanted wanted;
    double since = 0;
    std::uint64_t serial = 0;
  };
  // True if the audit with this serial still waits for its answer. If another audit of the task has
  // replaced it, its answer is ignored.
  [[nodiscard]] bool is_open(const TaskId& task, std::uint64_t serial);
  // Gives the audit to a worker. Returns false if no worker can do it.
  [[nodiscard]] bool lease(const AuditWanted& wanted);
  [[nodiscard]] std::deque<Sample>& next_line();
  // Lets the verifier take the next sample that is still wanted.
  void verify();
  [[nodiscard]] bool agrees(const AuditWanted& wanted) const;
  // True if the checked groups of steps of the result are right.
  [[nodiscard]] bool groups_agree(const AuditWanted& wanted) const;
  // The share of the task that the verifier computes.
  [[nodiscard]] static double share_of(const AuditWanted& wanted);

  Parts parts_;
  std::array<std::deque<Sample>, 3> samples_;  // Disputes, newcomers', others.
  VerifierTurns turns_;
  std::optional<Sample> verifying_;
  std::unordered_map<TaskId, std::uint64_t> serials_;  // Serials of open audits.
  std::uint64_t serial_ = 0;
  std::uint64_t honest_refused_ = 0;
  double sample_lag_ = 0;
  double newcomer_lag_ = 0;
};

}  // namespace weft::trust::attacks
