// Simulates many jobs on a network with dishonest workers, from one seed. In each turn one worker
// does one thing: a wanted audit, a wanted replica, or a new task (and sometimes a trap). The
// referee decides and the ledger moves the money; the outcome is compared with the truth, which the
// simulation knows.
#pragma once

#include <array>
#include <cstdint>

#include "decisions/trust/referee.h"
#include "decisions/trust/simulation/behaviour.h"

namespace weft::trust::simulation {

struct Options {
  std::uint64_t seed = 1;
  std::uint32_t workers = 200;
  std::uint32_t tasks = 400'000;
  std::uint32_t job_tasks = 2'000;
  // Shares of all workers by Kind; the other workers are honest.
  std::array<double, kind_names.size()> shares{0, 0.03, 0.04, 0.03, 0.3, 0};
  UnixMillis turn = 15LL * 60 * 1000;  // The duration of one turn; 400,000 tasks last five weeks.
  MicroCredits value = 1000;           // The value of a task.
  double stake = 200;                  // Deposit of each worker, in values of a task.
  std::uint32_t replicas = 2;
  std::uint32_t clients = 200;  // The number of clients, whose jobs take turns.
  bool verifier = true;  // True: the coordinator's verifier does the audits; false: workers do.
  RefereeSettings referee{};

  // Returns the options of a network without levels of trust (levels.h): workers count by heads,
  // juries of 11 decide, and workers audit each other.
  [[nodiscard]] Options without_levels() const;
};

struct KindResult {
  std::uint32_t workers = 0;
  std::uint32_t convicted = 0;  // The number of convicted workers; each counts once.
  std::uint64_t cheats = 0;     // The number of wrong answers handed in.
  std::uint64_t accepted = 0;   // Cheats that were accepted and paid.
  MicroCredits gained = 0;      // The pay for wrong answers.
  MicroCredits slashed = 0;
  // The mean gain of a cheat, in values of a task.
  [[nodiscard]] double per_cheat(MicroCredits value) const;
};

struct Outcome {
  std::uint64_t tasks = 0;           // The number of accepted tasks.
  std::uint64_t wrong_accepted = 0;  // Accepted tasks whose wrong answer was not found.
  // Work beyond one run of each task in the first half of the tasks, as a share of one run.
  double extra_work_cold = 0;
  double extra_work_warm = 0;  // Extra work in the second half, as a share of one run.
  double extra_replicas = 0;   // The part of extra_work_warm that is replicas.
  double extra_audits = 0;
  double extra_traps = 0;
  std::uint64_t failed_jobs = 0;
  std::uint64_t undecided = 0;  // Tasks that were handed in and not accepted at the end.
  std::array<KindResult, kind_names.size()> kinds{};  // The results, indexed by Kind.
  MicroCredits ledger_sum = 0;

  [[nodiscard]] double wrong_share() const {
    return tasks == 0 ? 0 : static_cast<double>(wrong_accepted) / static_cast<double>(tasks);
  }
};

[[nodiscard]] Outcome run(const Options& options);

}  // namespace weft::trust::simulation
